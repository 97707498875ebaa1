"""The clock of a search: what it may cost, and how long it will take by what it needed so far."""

from __future__ import annotations

import time
from collections.abc import Callable

from gamekeeper.results import Progress

Expect = Callable[[float], None]
"""Told how many seconds a search will take in all; it may raise an error to refuse them."""

PROBE = 3.0
"""Seconds of steps after which the rest is estimated."""
_PROBED_STEPS = 10


class SearchClock:
    """What a search may cost and has cost so far, in sides settled, programs and time.

    The estimate takes each side to need as long as those before did on average, apart from what comes
    before the first. It is told once, after some sides and seconds, and errs on the long side: what
    settles one often settles later ones.

    Examples
    --------
    >>> clock = SearchClock(total=4)
    >>> clock.begin()
    >>> clock.step()
    >>> clock.watch(), clock.expected() is not None
    (False, True)
    """

    def __init__(
        self,
        total: int = 0,
        progress: Progress | None = None,
        max_seconds: float | None = None,
        expect: Expect | None = None,
        probe: float = PROBE,
        *,
        max_programs: int | None = None,
    ) -> None:
        self.started = time.monotonic()
        self.until = None if max_seconds is None else self.started + max_seconds
        self.total = total
        self.done = 0
        self.relaxations = self.programs = self.points = 0
        self._most_programs = max_programs
        self._begun = self.started
        self._stepping = 0.0
        self._progress, self._expect, self._probe = progress, expect, probe

    @property
    def is_over(self) -> bool:
        """Whether the time, or the number of programs, is used up."""
        most = self._most_programs
        if most is not None and self.relaxations + self.programs >= most:
            return True
        return self.until is not None and time.monotonic() >= self.until

    @property
    def left(self) -> float | None:
        """The seconds that are left."""
        return None if self.until is None else self.until - time.monotonic()

    @property
    def nodes(self) -> int | None:
        """The programs that are left, as nodes of the branching of an integer program."""
        if self._most_programs is None:
            return None
        return max(self._most_programs - self.relaxations - self.programs, 1)

    def begin(self) -> None:
        """Note that steps begin, after what had to come before them."""
        self._begun = time.monotonic()

    def step(self, sides: int = 1) -> None:
        """Note that some sides were done."""
        now = time.monotonic()
        self._stepping += now - self._begun
        self._begun = now
        self.done += sides
        self.watch()

    def watch(self) -> bool:
        """Tell how far it is, and return whether the time is over."""
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)
        is_probed = self.done >= min(_PROBED_STEPS, self.total) and self._stepping > self._probe
        if self._expect is not None and is_probed:
            told, self._expect = self._expect, None
            told(self.expected() or 0.0)
        return self.until is not None and time.monotonic() >= self.until

    def expected(self) -> float | None:
        """Return how many seconds all sides will take; None before the first is done."""
        if not self.done:
            return None
        left = max(self.total - self.done, 0)
        return time.monotonic() - self.started + left * self._stepping / self.done
