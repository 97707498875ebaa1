"""Every error that Gamekeeper raises on purpose, and the one way it is phrased.

The tree::

    GamekeeperError
    ├── InputError     what was given cannot be used            (exit code 2)
    ├── StoreError     what was asked could not be written      (exit code 2)
    ├── LimitError     the work would exceed a stated limit     (exit code 3)
    └── Cancelled      the caller stopped the work              (exit code 130)

Exit code 4 is no error: a policy, rule or target that was named is not met or not proven. The result
is told as usual.

An error says what was asked, what was found and what to do, in that order, and lists every
problem that was found, not just the first. It names variables, counts, types and labels of the
environment or of a code list, never a value observed in a data file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

_SHOWN_PROBLEMS = 40
NOT_MET_CODE = 4
"""The exit code where a named policy, rule or target is not met or not proven."""


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
    POSSIBLE_SUBTOTALS = "possible-subtotals"
    READ_ONLY = "read-only"
    STALE = "stale"
    UNCERTAIN = "uncertain"
    UNMAPPED_VALUES = "unmapped-values"
    UNREACHABLE = "unreachable"
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

    - `reason`: the stable code of the error.
    - `asked`, `found`, `do`: three sentences: what was asked, what was found, what to do.
    - `problems`: every single fault, when there can be several.
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


def refuse(problems: Sequence[Problem], asked: str, found: str = "", do: str = "") -> None:
    """Raise one error for all problems, with the reason of the first; nothing where there are none."""
    if problems:
        n = len(problems)
        some = "There is 1 problem:" if n == 1 else f"There are {n:,} problems:"
        raise InputError(problems[0].reason, asked, found or some, do, problems=problems)


class StoreError(GamekeeperError):
    """What was asked could not be written."""

    exit_code = 2


class LimitError(GamekeeperError):
    """The work would exceed a stated limit; the message says which option lifts it."""

    exit_code = 3


class Cancelled(GamekeeperError):  # noqa: N818 - an event, not a fault
    """The caller stopped the work; nothing was changed, but for what `kept` says."""

    exit_code = 130

    def __init__(self, asked: str, kept: str = "Nothing was changed.") -> None:
        super().__init__(Reason.CANCELLED, asked, "The work was cancelled.", kept)

    def __reduce__(self) -> tuple[type[Cancelled], tuple[str, str]]:
        return Cancelled, (self.asked, self.do)


def fault_place(error: BaseException) -> str:
    """Return where in the package a fault happened: the function and line that were reached last.

    Frames are known by their module. A path would not tell them: whoever keeps a checkout, and with it
    all libraries, in a folder of our name would read of a line that is not ours.
    """
    place, trace = "unknown place", error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == __name__.partition(".")[0]:
            place = f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
