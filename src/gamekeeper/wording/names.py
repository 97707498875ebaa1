"""Names that are the same but for case and accents, or near to each other."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

from gamekeeper.wording.lists import quoted

_WORD = re.compile(r"[^\W_]+")
_NEAR = 0.86
_COMPARED_LETTERS = 200
_SHOWN = 3


def folded(name: str) -> str:
    """Return what is left of a name without case, accents and extra white space.

    Two names of a kind that come to the same are taken for one name written twice.

    Examples
    --------
    >>> folded("Économie  et Emploi") == folded("economie et emploi")
    True
    """
    if name.isascii():
        return " ".join(name.lower().split())
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(plain.split())


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
    without_case = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(name.casefold(), without_case, n=_SHOWN, cutoff=0.6)
    if close:
        return f"Near to it: {quoted(without_case[match] for match in close)}."
    if not lists:
        return ""
    if not names:
        return "There are none."
    return f"There are: {quoted(sorted(names))}."


def near_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names that a new one may have been meant to be, the nearest first.

    Near are names of the same words in another order, in singular or plural, with other
    punctuation, or with a slip of the pen.

    Examples
    --------
    >>> near_names("Country of residance", ["Country of residence", "Age", "Residence, country of"])
    ('Country of residence',)
    >>> near_names("Marital statuses", ["Marital status"])
    ('Marital status',)
    """
    words = _words(name)
    text = " ".join(words)[:_COMPARED_LETTERS]
    bag = sorted(words)
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(text)
    ranked: list[tuple[float, str]] = []
    for other in known:
        if other == name:
            continue
        theirs = _words(other)
        if sorted(theirs) == bag:
            ranked.append((-1.0, other))
            continue
        if _marks(words) != _marks(theirs):
            continue
        matcher.set_seq1(" ".join(theirs)[:_COMPARED_LETTERS])
        if matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR:
            ratio = matcher.ratio()
            if ratio >= _NEAR:
                ranked.append((-ratio, other))
    return tuple(other for _, other in sorted(ranked)[:_SHOWN])


def _words(name: str) -> list[str]:
    return [_singular(word) for word in _WORD.findall(folded(name[: 4 * _COMPARED_LETTERS]))]


def _singular(word: str) -> str:
    for ending in ("es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _marks(words: list[str]) -> list[str]:
    """Return words that tell names apart: "Survey 1" or "Survey A" is no slip for "Survey 2"."""
    return [word for word in words if len(word) == 1 or any(letter.isdigit() for letter in word)]
