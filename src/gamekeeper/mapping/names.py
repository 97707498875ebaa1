"""Names of variables, forms, groups and categories: which are fit, and which are the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import folded, quoted, unfit_character

_LONGEST = 20_000


def clashes(kind: str, names: Iterable[str], known: Mapping[str, str]) -> list[Problem]:
    """Return a problem for every name that differs from another only in case or accents.

    `known` has the names that are there already by what they fold to.

    Examples
    --------
    >>> clashes("form", ["BANK"], {"bank": "Bank"})[0].found
    "differs from 'Bank' only in case, accents or white space."
    """
    seen = dict(known)
    problems: list[Problem] = []
    for name in names:
        other = seen.setdefault(folded(name), name)
        if other != name:
            found = f"differs from {quoted([other])} only in case, accents or white space."
            where = f"{kind} {quoted([name])}"
            problems.append(Problem(Reason.DUPLICATE, where, found, "Rename one of them."))
    return problems


def name_problems(kind: str, names: Iterable[str]) -> list[Problem]:
    r"""Return a problem for every name that is empty, too long, padded or holds unfit characters.

    Names may hold what writing systems need: joiners, no-break spaces, soft hyphens, marks of
    direction. They hold no control characters, line breaks or overrides of direction, which
    would change the text around them.

    Examples
    --------
    >>> name_problems("form", ["Bank", "B\u202eank"])[0].found
    'holds U+202E, a character that changes the text around it.'
    """
    faults = ((name, _name_fault(name)) for name in names)
    return [
        Problem(Reason.BAD_NAME, f"{kind} {quoted([name])}", fault, "Rename it.")
        for name, fault in faults
        if fault
    ]


def _name_fault(name: str) -> str:
    if not name:
        return "is empty."
    if len(name) > _LONGEST:
        return f"has {len(name):,} characters, and {_LONGEST:,} are the most."
    if unfit := unfit_character(name):
        return f"holds {unfit}."
    if name != name.strip():
        return "starts or ends with white space."
    # Letters, numbers, punctuation and symbols; marks and formats show only on one of these.
    if not any(unicodedata.category(letter)[0] in "LNPS" for letter in name):
        return "has no character that shows by itself."
    return ""
