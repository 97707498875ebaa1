"""An older search for the bounds of numbers by linear facts, kept to compare: two programs for each."""

# pyright: basic

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import (
    NO_LIMIT,
    Certificate,
    NoNumbersError,
    verified,
)
from tests.twins.fact_programs import FactComponent, FactProgram, components, propagate

Integers = NDArray[np.int64]


PROBE = 3.0

_STEPS = 10

Expect = Callable[[float], None]


class SearchClock:
    def __init__(self, total, progress=None, max_seconds=None, expect=None, probe=PROBE):
        self.started = time.monotonic()
        self.until = None if max_seconds is None else self.started + max_seconds
        self.total = total
        self.done = 0
        self._begun = self.started
        self._stepping = 0.0
        self._progress, self._expect, self._probe = (progress, expect, probe)

    @property
    def is_over(self):
        return self.until is not None and time.monotonic() > self.until

    @property
    def left(self):
        return None if self.until is None else self.until - time.monotonic()

    def begin(self):
        self._begun = time.monotonic()

    def step(self):
        now = time.monotonic()
        self._stepping += now - self._begun
        self._begun = now
        self.done += 1
        self.watch()

    def watch(self):
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)
        is_probed = self.done >= min(_STEPS, self.total) and self._stepping > self._probe
        if self._expect is not None and is_probed:
            told, self._expect = (self._expect, None)
            told(self.expected() or 0.0)
        return self.is_over

    def expected(self):
        if not self.done:
            return None
        left = max(self.total - self.done, 0)
        return time.monotonic() - self.started + left * self._stepping / self.done


_ENDLESS_ROOM = 1000


@dataclass(frozen=True, eq=False, repr=False)
class FactBounds:
    numbers: tuple[int, ...]
    least: tuple[Fraction | None, ...]
    most: tuple[Fraction | None, ...]
    reached_least: tuple[Fraction | None, ...]
    reached_most: tuple[Fraction | None, ...]
    endless: tuple[bool, ...]

    def is_tight(self, at):
        return self._is_near(self.least[at], self.reached_least[at]) and (
            self.endless[at] or self._is_near(self.most[at], self.reached_most[at])
        )

    @staticmethod
    def _is_near(bound, reached):
        return bound is not None and reached is not None and (abs(bound - reached) < 1)


class FactSearch:
    def __init__(self, facts, wanted):
        self.facts = facts
        self.wanted = np.asarray(wanted, np.int64)
        self.limits = propagate(facts)
        self.lower: list[Fraction | None] = [
            _known(one, -NO_LIMIT) for one in self.limits.lower.tolist()
        ]
        self.upper: list[Fraction | None] = [
            _known(one, NO_LIMIT) for one in self.limits.upper.tolist()
        ]
        self.reached_low: dict[int, Fraction] = {}
        self.reached_high: dict[int, Fraction] = {}
        self.endless: set[int] = set()
        self.programs = 0
        self._duals: dict[tuple[int, bool], tuple[FactComponent, Mapping[int, Fraction]]] = {}
        self._by_branching: set[tuple[int, bool]] = set()
        self.components = components(facts, self.limits.lower, self.limits.upper, self.wanted)

    def run(self, progress=None, *, max_seconds=None, only_known=False, expect=None, probe=PROBE):
        asked = set(self.wanted.tolist())
        places = [
            [at for at, number in enumerate(part.numbers.tolist()) if number in asked]
            for part in self.components
        ]
        clock = SearchClock(2 * sum(map(len, places)), progress, max_seconds, expect, probe)
        for part, own in zip(self.components, places, strict=True):
            _Component(self, part, own, clock, only_known).run()

    def found(self):
        own = self.wanted.tolist()
        fixed = [self.lower[n] is not None and self.lower[n] == self.upper[n] for n in own]
        low = [
            self.lower[n] if is_fixed else self.reached_low.get(n)
            for n, is_fixed in zip(own, fixed, strict=True)
        ]
        high = [
            self.upper[n] if is_fixed else self.reached_high.get(n)
            for n, is_fixed in zip(own, fixed, strict=True)
        ]
        return FactBounds(
            tuple(own),
            tuple(self.lower[n] for n in own),
            tuple(self.upper[n] for n in own),
            tuple(low),
            tuple(high),
            tuple(n in self.endless for n in own),
        )

    def proof(self, number, *, is_upper):
        if (number, is_upper) in self._by_branching:
            return None
        if (number, is_upper) not in self._duals:
            found = self.limits.proof(number, is_upper=is_upper)
            return found if found is not None and self._is_enough(found) else None
        part, duals = self._duals[number, is_upper]
        rows = {int(part.rows[row]): times for row, times in duals.items()}
        first = Certificate(number, is_upper, rows, Fraction(0))
        for member, factor in first.left_over(self.facts).items():
            below = self.limits.traced(member, is_upper=(factor > 0) == is_upper)
            if below is None:
                return None
            for row, times in below.items():
                rows[row] = rows.get(row, Fraction(0)) + factor * times
        found = verified(self.facts, number, rows, is_upper=is_upper)
        return found if found is not None and self._is_enough(found) else None

    def _is_enough(self, found):
        told = (self.upper if found.is_upper else self.lower)[found.target]
        bound = found.bound
        if self.facts.whole:
            bound = Fraction(math.floor(bound) if found.is_upper else math.ceil(bound))
        return told is not None and (bound <= told if found.is_upper else bound >= told)

    def note(self, number, bound, *, is_upper):
        if self.facts.whole:
            bound = Fraction(math.floor(bound) if is_upper else math.ceil(bound))
        known = self.upper if is_upper else self.lower
        before = known[number]
        if before is not None and (bound >= before if is_upper else bound <= before):
            return False
        known[number] = bound
        return True

    def meet(self, number, value):
        if number not in self.reached_low or value < self.reached_low[number]:
            self.reached_low[number] = value
        if number not in self.reached_high or value > self.reached_high[number]:
            self.reached_high[number] = value

    def keep(self, number, part, duals, *, is_upper):
        self._duals[number, is_upper] = (part, duals)
        self._by_branching.discard((number, is_upper))

    def branched(self, number, *, is_upper):
        self._by_branching.add((number, is_upper))


class _Component:
    def __init__(self, search, part, own, clock, only_known):
        self.search, self.part, self.own = (search, part, own)
        self.clock, self.only_known = (clock, only_known)
        self.numbers = part.numbers.tolist()
        self.places = np.array(own, np.int64)
        self.seen = (np.full(len(own), NO_LIMIT, np.int64), np.full(len(own), -NO_LIMIT, np.int64))

    def run(self):
        if self.clock.is_over:
            return
        program = FactProgram(self.part, self.clock.watch)
        first = program.relaxed(np.zeros(0, np.int64), 1)
        self.search.programs += 1
        if first.is_empty:
            raise NoNumbersError(self.part.rows.tolist())
        self._meet(first)
        for sign in (1, -1):
            if self.clock.is_over:
                return
            self.search.programs += 1
            self._meet(program.relaxed(self.places, sign))
        self.clock.begin()
        sides = [(at, is_upper) for at in self.own for is_upper in (False, True)]
        for settle in (self._settle, self._branch) if self.search.facts.whole else (self._settle,):
            for at, is_upper in sides:
                if self.clock.is_over:
                    return
                if not self._is_settled(self.numbers[at], is_upper=is_upper):
                    settle(program, at, is_upper=is_upper)
                if settle == self._settle:
                    self.clock.step()
                else:
                    self.clock.watch()

    def _meet(self, solved):
        if solved.point is None:
            return
        values = solved.point[self.places]
        worth = np.arange(len(values))
        if solved.times == 1:
            own = values.astype(np.int64)
            worth = np.flatnonzero((own < self.seen[0]) | (own > self.seen[1]))
            np.minimum(self.seen[0], own, out=self.seen[0])
            np.maximum(self.seen[1], own, out=self.seen[1])
        for at in worth.tolist():
            self.search.meet(self.numbers[self.own[at]], Fraction(int(values[at]), solved.times))

    def _is_settled(self, number, *, is_upper):
        search = self.search
        if self.only_known and search.reached_low.get(number) != search.reached_high.get(number):
            return True
        bound = (search.upper if is_upper else search.lower)[number]
        reached = (search.reached_high if is_upper else search.reached_low).get(number)
        return bound is not None and reached is not None and (bound == reached)

    def _settle(self, program, at, *, is_upper):
        search, number = (self.search, self.numbers[at])
        sign = -1 if is_upper else 1
        search.programs += 1
        solved = program.relaxed(np.array([at]), sign)
        self._meet(solved)
        if solved.is_endless and (search.upper if is_upper else search.lower)[number] is None:
            self._endless(program, at, is_upper=is_upper)
            return
        if solved.bound is not None and search.note(number, solved.bound, is_upper=is_upper):
            assert solved.duals is not None
            search.keep(number, self.part, solved.duals, is_upper=is_upper)

    def _endless(self, program, at, *, is_upper):
        if not is_upper:
            return
        search, number = (self.search, self.numbers[at])
        facts = self.part.facts
        finite = [
            own[np.abs(own) < NO_LIMIT] for own in (facts.lower, facts.upper, facts.low, facts.high)
        ]
        largest = max((int(np.abs(own).max(initial=0)) for own in finite), default=0)
        cap = _ENDLESS_ROOM * (largest + search.facts.scale)
        solved = program.relaxed(np.array([at]), -1, cap=cap)
        self._meet(solved)
        reached = search.reached_high.get(number)
        if reached is not None and reached > largest * 2:
            search.endless.add(number)

    def _branch(self, program, at, *, is_upper):
        search, number = (self.search, self.numbers[at])
        low, high = (search.lower[number], search.upper[number])
        if low is None or high is None:
            return
        search.programs += 1
        sign = -1 if is_upper else 1
        solved = program.whole(at, sign, int(low), int(high), self.clock.left)
        if solved.is_empty:
            raise NoNumbersError(self.part.rows.tolist())
        self._meet(solved)
        if solved.bound is not None and search.note(number, solved.bound, is_upper=is_upper):
            search.branched(number, is_upper=is_upper)


def _known(limit, none):
    return None if limit == none else Fraction(limit)
