"""Names of variables, forms, groups and categories: which are fit, the same, or nearly the same."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping

from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import quoted, unfit_character

__all__ = ["clashes", "folded", "name_problems", "near_names"]

_WORD = re.compile(r"[^\W_]+")
_NEAR = 0.86
_COMPARED_LETTERS = 200
_SHOWN = 3
_LONGEST = 20_000


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
