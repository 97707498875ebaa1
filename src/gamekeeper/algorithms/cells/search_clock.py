"""How far a long search is, when it must stop, and how long it will take by what it needed so far."""

from __future__ import annotations

import time
from collections.abc import Callable

from gamekeeper.results import Progress

PROBE = 3.0
"""Seconds of steps after which the rest is estimated."""
_STEPS = 10

Expect = Callable[[float], None]
"""Told how many seconds a search will take in all; it may raise an error to refuse them."""


class SearchClock:
    """Steps of a search, counted and timed.

    The estimate takes each step to need as long as those before did on average, apart from what comes
    before the first. It is told once, after some steps and seconds, and errs on the long side: what a
    step finds often settles later ones.

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
        total: int,
        progress: Progress | None = None,
        max_seconds: float | None = None,
        expect: Expect | None = None,
        probe: float = PROBE,
    ) -> None:
        self.started = time.monotonic()
        self.until = None if max_seconds is None else self.started + max_seconds
        self.total = total
        self.done = 0
        self._begun = self.started
        self._stepping = 0.0
        self._progress, self._expect, self._probe = progress, expect, probe

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def left(self) -> float | None:
        """The seconds that are left."""
        return None if self.until is None else self.until - time.monotonic()

    def begin(self) -> None:
        """Note that steps begin, after what had to come before them."""
        self._begun = time.monotonic()

    def step(self) -> None:
        """Note that a step was done."""
        now = time.monotonic()
        self._stepping += now - self._begun
        self._begun = now
        self.done += 1
        self.watch()

    def watch(self) -> bool:
        """Tell how far it is, and return whether the time is over."""
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)
        is_probed = self.done >= min(_STEPS, self.total) and self._stepping > self._probe
        if self._expect is not None and is_probed:
            told, self._expect = self._expect, None
            told(self.expected() or 0.0)
        return self.is_over

    def expected(self) -> float | None:
        """Return how many seconds all steps will take; None before the first is done."""
        if not self.done:
            return None
        left = max(self.total - self.done, 0)
        return time.monotonic() - self.started + left * self._stepping / self.done
