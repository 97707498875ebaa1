"""Names that are not known: which known ones are near."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from gamekeeper.wording.lists import quoted

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str], *, lists: bool = True) -> str:
    """Return a sentence with the known names near to `name`, or else with all of them.

    Without `lists` none are named that are not near: where names may be something else, such as
    the first line of a file without a header.

    Examples
    --------
    >>> did_you_mean("regoin", ["region", "sex", "age"])
    "Near to it: 'region'."
    """
    names = list(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    if close:
        return f"Near to it: {quoted(folded[match] for match in close)}."
    if not lists:
        return ""
    if not names:
        return "There are none."
    return f"There are: {quoted(sorted(names))}."
