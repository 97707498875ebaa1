"""The exact bounds of sums of numbers within one component of facts.

From outside, bounds are closed in by propagation and by linear programs. From inside, every solution
that is met shows how small and how large each sum can be. A bound is settled where the two meet.
Whole numbers with factors of 1 and -1 come cheaply from random walks that fix many sums at once to
their outer bounds and repair the rest: on a 20 x 20 x 10 table from its 2-way margins some hundred
walks settle all 8,000 bounds. What they leave, and all others, get a linear program, whose optimum
closes the outer bound in, and a walk from there; then, for whole numbers, branching, and an integer
program if the two still differ.

What is not settled when the work is stopped keeps bounds that are valid, and is not known to be tight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.components import Component, SearchLimits
from gamekeeper.algorithms.linear.facts import NO_LIMIT, Integers, NoNumbersError
from gamekeeper.algorithms.linear.programs import Branching, Multiples, Program, Solved, branch
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


Target = tuple[int, int]
"""The place of a sum, and 1 for its upper or -1 for its lower bound."""
# Temperatures of walks, per row that a number is part of. Measured on six releases of two to six
# axes, from nothing and up to a million steps: each had its best among these, five of them found
# nothing at 0.05 and only one of those anything at 0.3. The Rochdale table (eight axes of two
# categories, all 2-way margins) found nothing at any, and is left to programs.
_TEMPERATURES = (0.1, 0.13, 0.17, 0.2)
_STEPS_PER_NUMBER = 25
_FEWEST_STEPS = 2_000
_STEPS_PER_FIRST = 2
_FIRST_BUNDLE, _MOST_BUNDLE = 8, 64
# So many lone targets missed in a row, and the walks leave the rest to programs.
_PATIENCE = 10
_MAX_NODES = 100
# A bound that is further from that of real numbers is left to an integer program.
_MOST_MOVES = 10
# To try whether another bound can be reached in the same solution costs a linear program, as a node
# does: worth it where solutions are found after many.
_NODES_PER_JOINED = 3
_MOST_JOINED = 16
_ENDLESS_ROOM = 1000
_NOTHING = np.zeros(0, np.int64)


class ComponentSearch:
    """Outer bounds of the sums of one component, and the values met, until they agree.

    - `least`, `most`: the bounds, `NO_LIMIT` or less it where there is none: whole numbers, or
      fractions where numbers need not be whole. `seen_least`, `seen_most`: the values met.
    - `endless`: whether each sum is shown to have no largest value.
    - `proofs`: the multiples of rows that prove a bound, None for one that stands on whole numbers
      that were tried, by side.

    With `only_known`, a sum is left as soon as two values of it are shown to be possible.
    """

    def __init__(self, part: Component, clock: SearchClock, *, only_known: bool = False) -> None:
        self.part, self._clock, self._only_known = part, clock, only_known
        facts, n = part.facts, len(part.sums)
        kind: Any = np.int64 if facts.whole else object
        self.least, self.most = (_sums_of(part, own, kind) for own in (facts.lower, facts.upper))
        self.seen_least, self.seen_most = np.full(n, NO_LIMIT, kind), np.full(n, -NO_LIMIT, kind)
        self.endless = np.zeros(n, np.bool_)
        self.point: NDArray[Any] | None = None
        self.proofs: dict[Target, Multiples | None] = {}
        system = part.system
        # Numbers that are whole in a larger unit could be met between two of them.
        self._is_whole = facts.whole and facts.scale == 1 and system.is_small and part.is_finite
        self._walks = self._is_whole and facts.largest_factor == 1
        self._n_joined = self._n_vertices = 0
        self._n_found = np.zeros(len(_TEMPERATURES), np.int64)
        self._temperature = self._taken = 0
        self._random = np.random.default_rng(1)
        self._n_open = 2 * n
        size = part.n_rows + len(part.numbers)
        self._steps = max(_FEWEST_STEPS, _STEPS_PER_NUMBER * size)

    @property
    def tight_lower(self) -> NDArray[np.bool_]:
        """Whether numbers are known for which each sum is at its lower bound."""
        return np.asarray(self.seen_least == self.least, np.bool_)

    @property
    def tight_upper(self) -> NDArray[np.bool_]:
        """Whether numbers are known for which each sum is at its upper bound, or as large as wished."""
        return np.asarray((self.seen_most == self.most) | self.endless, np.bool_)

    def start(self, *, until_found: bool = False) -> bool:
        """Find first numbers, if it is cheap or for whatever it costs; `NoNumbersError` if there are none."""
        if not self.part.n_rows and self.part.is_finite:
            # Nothing ties the numbers of such a component: there is one, and it is free.
            self._see(self.part.facts.lower)
            self._see(self.part.system.upper)
            return True
        if self._walks:
            self._see(self._first_by_walks(self.part.system.lower, 2 * self._steps))
        if self.point is None and not self._clock.is_over:
            self._first_by_programs(until_found=until_found)
        return self.point is not None

    def run(self) -> None:
        """Settle all bounds, or as many as the search may cost."""
        self._clock.begin()
        self._tell()
        hard = [(k, side) for k in range(len(self.part.sums)) for side in (-1, 1)]
        if self._walks and self.point is not None:
            is_single = self.part.is_single
            hard = self._by_walks(np.flatnonzero(is_single))
            hard += [(int(k), side) for k in np.flatnonzero(~is_single) for side in (1, -1)]
        elif self._n_open > 2:
            self._by_all()
        ways: list[Callable[[Target, Sequence[Target]], None]] = [self._by_relaxation]
        ways += [self._by_branching] if self._is_whole else []
        ways += [self._by_program] if self.part.facts.whole else []
        for settle in ways:
            for at, target in enumerate(hard):
                if not self._is_open(target):
                    continue
                if self._clock.is_over:
                    return
                settle(target, hard[at + 1 :])
                self._tell()

    def _tell(self) -> None:
        """Tell how many more sides are settled."""
        before = self._n_open
        self._n_open = int(
            np.count_nonzero(~self.tight_lower) + np.count_nonzero(~self.tight_upper)
        )
        self._clock.step(before - self._n_open)

    def _first_by_walks(self, start: Integers, steps: int) -> Integers | None:
        """Return numbers if there are some at some temperature, and keep the fastest one."""
        best: Integers | None = None
        fastest = 0
        for number in range(len(_TEMPERATURES)):
            self._temperature = number
            found = self._walk(self._limits(), start, steps)
            if found is not None:
                best, fastest, steps = found, number, self._taken
        self._temperature = fastest
        if best is not None:
            # Where the first was far, the next ones are not near either.
            self._steps = max(self._steps, _STEPS_PER_FIRST * steps)
        return best

    def _first_by_programs(self, *, until_found: bool) -> None:
        relaxed = self._relaxed(_NOTHING, 1)
        if self.point is None and relaxed.vertex is not None and self._walks:
            start = self._program.near(relaxed.vertex)
            self._see(self._first_by_walks(start, 16 * self._steps))
        if self.point is not None or not until_found:
            return
        if self._is_whole:
            found = self._branch(self._limits())
            self._see(found.point)
            if found.is_empty:
                raise NoNumbersError(self.part.rows.tolist())
        if self.point is not None or self._clock.is_over:
            return
        whole = self._whole(None, 1, 0, 0)
        if whole.is_empty:
            raise NoNumbersError(self.part.rows.tolist())
        if whole.point is None and whole.vertex is not None and self._walks:
            self._see(self._walk(self._limits(), self._program.near(whole.vertex), self._steps))

    def _by_walks(self, sums: Integers) -> list[Target]:
        """Settle what walks can settle; return what they leave."""
        left: list[Target] = []
        size, missed = _FIRST_BUNDLE, 0
        assert self.point is not None
        for side in (1, -1):
            waiting = self._open_of(self._random.permutation(sums), side)
            while len(waiting):
                if missed >= _PATIENCE or self._clock.is_over:
                    left += [(k, side) for k in waiting.tolist()]
                    break
                limits, chosen = self._bundle(waiting[: 4 * size], side, size)
                found = self._walk(limits, self.point, self._steps) if chosen else None
                if found is not None:
                    self._see(found)
                    size, missed = min(2 * size, _MOST_BUNDLE), 0
                    self._tell()
                elif chosen <= 1:
                    left.append((int(waiting[0]), side))
                    waiting = waiting[1:]
                    missed += 1
                    self._temperature = (self._temperature + 1) % len(_TEMPERATURES)
                else:
                    size = max(1, chosen // 2)
                waiting = self._open_of(waiting, side)
        return left

    def _bundle(self, waiting: Integers, side: int, size: int) -> tuple[SearchLimits, int]:
        """Return limits with the first sum and others at their bounds, and how many.

        They are those that propagation does not refute together; none if it refutes the first.
        """
        limits, chosen = self._limits(), 0
        for k in waiting.tolist():
            trial = limits.copied()
            if self._fix((k, side), trial):
                limits, chosen = trial, chosen + 1
                if chosen == size:
                    break
            elif not chosen:
                break
        return limits, chosen

    def _by_all(self) -> None:
        """Look for numbers that are small, and large, together: they often settle many sums."""
        every = np.unique(self.part.sum_members)
        for sign in (1, -1):
            if not self._clock.is_over:
                self._relaxed(every, sign)

    def _by_relaxation(self, target: Target, _others: Sequence[Target]) -> None:
        """Close an outer bound in by a linear program, and walk from its vertex."""
        k, side = target
        relaxed = self._relaxed(self.part.members_of(k), -side)
        if relaxed.is_endless:
            self._far(k, side)
        if relaxed.bound is not None and self._close(target, -side * relaxed.bound):
            self.proofs[target] = relaxed.multiples
        limits = self._limits()
        if (
            self._walks and relaxed.vertex is not None
            and self._is_open(target) and self._fix(target, limits)
        ):  # fmt: skip
            self._from_vertex(limits, self._program.near(relaxed.vertex))

    def _from_vertex(self, limits: SearchLimits, start: Integers) -> None:
        """Walk from near a vertex at several temperatures, the most successful first.

        All are tried for the first targets, and then those that found something. On an 8 x 8 x 8
        table from its 2-way margins this settles 74 of 77 sums of eight cells; the temperature that
        found the first table alone leaves 41.
        """
        order = np.argsort(-self._n_found, kind="stable")
        self._n_vertices += 1
        if self._n_vertices > _PATIENCE:
            order = order[: max(1, np.count_nonzero(self._n_found))]
        for number in order.tolist():
            self._temperature = number
            found = self._walk(limits, start, self._steps)
            if found is not None:
                self._see(found)
                self._n_found[number] += 1
                return

    def _by_branching(self, target: Target, others: Sequence[Target]) -> None:
        """Move an outer bound inwards where branching proves that nothing is there."""
        side = target[1]
        for _ in range(_MOST_MOVES):
            if not self._is_open(target) or self._clock.is_over:
                return
            if abs(self._outer(target)) >= NO_LIMIT:
                return
            limits = self._limits()
            if not self._fix(target, limits):
                self._move(target, self._outer(target) - side)
                continue
            is_joined = self._n_joined > 0
            if is_joined:
                limits = self._joined_by(others, limits)
            found = self._branch(limits)
            if found.point is not None:
                self._see(found.point)
                self._n_joined = min(found.nodes // _NODES_PER_JOINED, _MOST_JOINED)
            elif is_joined:
                self._n_joined = 0
            elif found.is_empty:
                self._move(target, self._outer(target) - side)
            else:
                return

    def _branch(self, limits: SearchLimits) -> Branching:
        found = branch(
            self.part, self._program, limits, _MAX_NODES, lambda: self._clock.is_over
        )  # fmt: skip
        self._clock.relaxations += found.nodes
        return found

    def _joined_by(self, others: Sequence[Target], limits: SearchLimits) -> SearchLimits:
        """Return limits with further sums at their outer bounds, as far as real numbers allow."""
        joined = 0
        for other in islice(self._opened(others), 2 * self._n_joined):
            trial = limits.copied()
            if abs(self._outer(other)) >= NO_LIMIT or not self._fix(other, trial):
                continue
            self._clock.relaxations += 1
            if self._program.within(trial).vertex is not None:
                limits = trial
                joined += 1
                if joined == self._n_joined:
                    break
        return limits

    def _opened(self, targets: Sequence[Target]) -> Iterator[Target]:
        return (target for target in targets if self._is_open(target))

    def _by_program(self, target: Target, _others: Sequence[Target]) -> None:
        """Close what is left by an integer program over the values not yet met."""
        k, side = target
        low, high = int(self.least[k]), int(self.most[k])
        if max(abs(low), abs(high)) >= NO_LIMIT:
            return
        is_met = self.seen_least[k] <= self.seen_most[k]
        if is_met and side > 0:
            low = int(self.seen_most[k]) + 1
        elif is_met:
            high = int(self.seen_least[k]) - 1
        whole = self._whole(k, -side, low, high)
        if whole.is_empty and not is_met:
            raise NoNumbersError(self.part.rows.tolist())
        if whole.is_empty:
            self._move(target, int(self.seen_most[k] if side > 0 else self.seen_least[k]))
        elif whole.bound is not None:
            self._move(target, -side * int(whole.bound))

    def _whole(self, place: int | None, sign: int, low: int, high: int) -> Solved:
        clock = self._clock
        clock.programs += 1
        found = self._program.whole(place, sign, low, high, clock.left, clock.nodes)
        clock.relaxations += found.nodes
        self._see(found.point)
        return found

    def _relaxed(self, members: Integers, sign: int, *, cap: int | None = None) -> Solved:
        self._clock.relaxations += 1
        found = self._program.relaxed(members, sign, cap=cap)
        if found.is_empty:
            raise NoNumbersError(self.part.rows.tolist())
        self._see(found.point, found.times)
        return found

    def _walk(self, limits: SearchLimits, start: NDArray[Any], steps: int) -> Integers | None:
        """Return numbers within limits, if a walk finds some."""
        from gamekeeper.algorithms.linear.kernels import repair

        lower, upper, row_lower, row_upper = limits
        numbers = np.clip(start, lower, upper)
        system = self.part.system
        per_number = len(self.part.facts.members) / len(numbers)
        self._taken = repair(
            system.starts, system.members, system.factors, row_lower, row_upper,
            *system.by_number, lower, upper, numbers, steps,
            _TEMPERATURES[self._temperature] * per_number, self._random,
            *np.empty((3, len(row_lower)), np.int64),
        )  # fmt: skip
        return numbers if self._taken >= 0 else None

    def _limits(self) -> SearchLimits:
        return self.part.limits().copied()

    def _fix(self, target: Target, limits: SearchLimits) -> bool:
        row = self.part.n_rows + target[0]
        limits.row_lower[row] = limits.row_upper[row] = self._outer(target)
        return self.part.propagate(limits, np.full(len(limits.row_lower), row), 1)

    def _see(self, point: NDArray[Any] | None, times: int = 1) -> None:
        """Note the values of numbers that satisfy every fact, each so many times too large."""
        if point is None:
            return
        values = self.part.totals(point)
        if not self.part.facts.whole:
            values = np.array([Fraction(int(one), times) for one in values], object)
        is_first = self.point is None
        np.minimum(self.seen_least, values, out=self.seen_least)
        np.maximum(self.seen_most, values, out=self.seen_most)
        self.point = point
        self._clock.points += 1
        if is_first and self.part.is_free.any():
            # Whatever is met, they can be raised.
            free = np.zeros(len(self.part.sums), np.bool_)
            of = np.repeat(np.arange(len(free)), np.diff(self.part.sum_starts))
            free[of[self.part.is_free[self.part.sum_members]]] = True
            self.endless |= free
            self.seen_most[free] = np.maximum(self.seen_most[free], self._room)

    @property
    def _room(self) -> int:
        """A value far above all that is published."""
        facts = self.part.facts
        return _ENDLESS_ROOM * (facts.largest_limit + facts.scale)

    def _far(self, k: int, side: int) -> None:
        """See that a number without a limit can be far above all that is published."""
        if side < 0 or not self.part.is_single[k] or self.most[k] < NO_LIMIT:
            return
        self._relaxed(self.part.members_of(k), -1, cap=self._room)
        if self.seen_most[k] > 2 * self.part.facts.largest_limit:
            self.endless[k] = True

    def _outer(self, target: Target) -> int:
        k, side = target
        return int(self.most[k] if side > 0 else self.least[k])

    def _move(self, target: Target, bound: int) -> None:
        """Note a bound that stands on whole numbers that were tried."""
        if self._close(target, Fraction(bound)):
            self.proofs[target] = None

    def _close(self, target: Target, bound: Fraction) -> bool:
        """Note a valid bound; tell whether it is better than what was known."""
        k, side = target
        own: Any = int(bound) if self.part.facts.whole else bound
        if (own >= self.most[k]) if side > 0 else (own <= self.least[k]):
            return False
        (self.most if side > 0 else self.least)[k] = own
        return True

    def _open_of(self, sums: Integers, side: int) -> Integers:
        """Return the sums among some of which a side is not settled."""
        is_settled = self.tight_upper if side > 0 else self.tight_lower
        if self._only_known:
            is_settled = is_settled | (self.seen_least < self.seen_most)
        return sums[~is_settled[sums]]

    def _is_open(self, target: Target) -> bool:
        k, side = target
        if self._only_known and self.seen_least[k] < self.seen_most[k]:
            return False
        if side > 0:
            return bool(self.seen_most[k] != self.most[k]) and not self.endless[k]
        return bool(self.seen_least[k] != self.least[k])

    @cached_property
    def _program(self) -> Program:
        return Program(self.part, self._clock.watch)


def _sums_of(part: Component, limits: Integers, kind: Any) -> NDArray[Any]:
    """Return limits of the sums by those of their numbers."""
    is_none = np.abs(limits) >= NO_LIMIT
    found = part.totals(np.where(is_none, 0, limits))
    if kind is object:
        found = np.array([Fraction(int(one)) for one in found], object)
    none = part.totals(is_none.astype(np.int64)) > 0
    found[none] = NO_LIMIT if np.any(limits[is_none] > 0) else -NO_LIMIT
    return found
