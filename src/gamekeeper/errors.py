"""Every error that Gamekeeper raises on purpose, and the one way it is phrased.

The tree::

    GamekeeperError
    ├── InputError     what was given cannot be used            (exit code 2)
    ├── StoreError     what was asked could not be written      (exit code 2)
    ├── LimitError     the work would exceed a stated limit     (exit code 3)
    └── Cancelled      the caller stopped the work              (exit code 130)

An error says what was asked, what was found and what to do, in that order, and lists every
problem that was found, not just the first. It names variables, counts, types and labels of the
environment or of a code list, never a value observed in a data file.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

__all__ = [
    "Cancelled",
    "GamekeeperError",
    "InputError",
    "LimitError",
    "Problem",
    "Reason",
    "StoreError",
    "count_of",
    "did_you_mean",
    "on_one_line",
    "quoted",
    "unfit_character",
]

_SHOWN_PROBLEMS = 40
_SHOWN_NAMES = 8
_UNFIT = {
    "Cc": "a control character",
    "Cs": "half of a character",
    "Cn": "which stands for no character",
    "Co": "which stands for no character that all agree on",
    "Zl": "a line break",
    "Zp": "a line break",
}
# Embeddings, overrides and isolates of direction, marks that are no longer to be used, the byte
# order mark, annotations and the tag of a language.
_CHANGING = {
    chr(number)
    for first, last in (
        (0x202A, 0x202E),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0xE0001, 0xE0001),
    )
    for number in range(first, last + 1)
}


class Reason(StrEnum):
    """Stable codes: tests and interfaces match these, never the prose."""

    CANCELLED = "cancelled"
    NOT_FOUND = "not-found"
    NOT_READABLE = "not-readable"
    NOT_WRITABLE = "not-writable"
    WRONG_ENCODING = "wrong-encoding"
    MALFORMED = "malformed"
    WRONG_SCHEMA = "wrong-schema"
    DUPLICATE = "duplicate"
    UNKNOWN_NAME = "unknown-name"
    BAD_NAME = "bad-name"
    BAD_OPTION = "bad-option"
    BAD_PREVALENCE = "bad-prevalence"
    BAD_BAND = "bad-band"
    BANDS_GAP = "bands-gap"
    BANDS_OVERLAP = "bands-overlap"
    NOT_A_PARTITION_GRAPH = "not-a-partition-graph"
    NOT_A_CATEGORIZATION = "not-a-categorization"
    NOT_CONTIGUOUS = "not-contiguous"
    NOT_REMOVABLE = "not-removable"
    DIFFERENT_SINKS = "different-sinks"
    NOTHING_GIVEN = "nothing-given"
    INCONSISTENT_CODE = "inconsistent-code"
    TOO_LARGE = "too-large"
    MISSING_PACKAGE = "missing-package"
    BAD_QUERY = "bad-query"
    BUSY = "busy"
    BAD_COUNT = "bad-count"
    CONFLICTING_COUNTS = "conflicting-counts"
    IMPOSSIBLE_COUNT = "impossible-count"
    DAMAGED = "damaged"
    DISK_FULL = "disk-full"
    ENGINE_FAILED = "engine-failed"
    IN_USE = "in-use"
    NEWER_VERSION = "newer-version"
    NOTHING_TO_UNDO = "nothing-to-undo"
    READ_ONLY = "read-only"
    STALE = "stale"
    UNMAPPED_VALUES = "unmapped-values"
    UNSAFE_EDIT = "unsafe-edit"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what was found, what to do about it."""

    reason: Reason
    where: str
    found: str
    do: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.where}: {self.found}", self.do) if part)


class GamekeeperError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    reason
        The stable code of the error.
    asked, found, do
        Three sentences: what was asked, what was found, what to do.
    problems
        Every single fault, when there can be several.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        reason: Reason,
        asked: str,
        found: str,
        do: str = "",
        *,
        problems: Iterable[Problem] = (),
    ) -> None:
        self.reason = reason
        self.asked = asked
        self.found = found
        self.do = do
        self.problems = tuple(problems)
        super().__init__(asked, found, do)

    @property
    def message(self) -> str:
        """The three sentences as one line, without the single problems."""
        return " ".join(part for part in (self.asked, self.found, self.do) if part)

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  - {problem}" for problem in self.problems[:_SHOWN_PROBLEMS]]
        if len(self.problems) > _SHOWN_PROBLEMS:
            lines.append(f"  - and {len(self.problems) - _SHOWN_PROBLEMS} more")
        return "\n".join(lines)


class InputError(GamekeeperError):
    """What was given cannot be used."""

    exit_code = 2


class StoreError(GamekeeperError):
    """What was asked could not be written."""

    exit_code = 2


class LimitError(GamekeeperError):
    """The work would exceed a stated limit; the message says which option lifts it."""

    exit_code = 3


class Cancelled(GamekeeperError):  # noqa: N818 - an event, not a fault
    """The caller stopped the work; nothing was changed."""

    exit_code = 130

    def __init__(self, asked: str) -> None:
        super().__init__(Reason.CANCELLED, asked, "The work was cancelled.", "Nothing was changed.")

    def __reduce__(self) -> tuple[type[Cancelled], tuple[str]]:
        return Cancelled, (self.asked,)


def quoted(names: Iterable[str], *, most: int = _SHOWN_NAMES, letters: int = 60) -> str:
    """Return names as a readable list, cut after `most` of them and each after some letters.

    Whatever could disturb a terminal is replaced.

    Examples
    --------
    >>> quoted(["Age", "Sex"])
    "'Age', 'Sex'"
    >>> quoted("abcd", most=2)
    "'a', 'b' and 2 more"
    """
    listed = list(names)
    text = ", ".join(f"'{on_one_line(name, letters)}'" for name in listed[:most])
    return f"{text} and {len(listed) - most} more" if len(listed) > most else text


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


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count_of(1, "form"), count_of(3, "category", "categories")
    ('1 form', '3 categories')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def unfit_character(name: str) -> str:
    r"""Return the first character that a name must not hold, in words; empty if there is none.

    Names may hold what writing systems need, such as joiners and no-break spaces, and nothing
    that would change the text around them or disturb a terminal.

    Examples
    --------
    >>> unfit_character("B\aank"), unfit_character("Bank")
    ('U+0007, a control character', '')
    """
    for letter in "" if name.isprintable() else name:
        unfit = _UNFIT.get(unicodedata.category(letter))
        if letter in _CHANGING:
            unfit = "a character that changes the text around it"
        if unfit:
            return f"U+{ord(letter):04X}, {unfit}"
    return ""


def on_one_line(text: str, most: int) -> str:
    r"""Return a text without what is unfit to show, cut after so many letters.

    Examples
    --------
    >>> on_one_line("one\atwo three", 8)
    'one�two…'
    """
    if not text.isprintable():
        text = "".join(
            "\N{REPLACEMENT CHARACTER}" if unfit_character(letter) else letter for letter in text
        )
    return text if len(text) <= most else text[: most - 1] + "…"
