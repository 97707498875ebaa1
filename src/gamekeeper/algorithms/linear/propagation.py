"""Limits that single rows of facts imply, taken together until nothing changes.

In a row, each number is at most what the others leave when they are as small as they can be, and at
least what they leave when as large as they can be. The limits themselves come from a kernel. Where
it is asked why, each step is gone again and kept with the row it came from, so that a limit can be
traced back to the rows and first limits that prove it. Everything is calculated in whole numbers; of
numbers that need not be whole, a limit is rounded away from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from gamekeeper.algorithms.linear.facts import (
    NO_LIMIT,
    Certificate,
    Integers,
    LinearFacts,
    NoNumbersError,
    verified,
)

_MOST_SWEEPS = 200
_MOST_ROWS_OF_PROOF = 20_000


@dataclass(eq=False, repr=False)
class ImpliedLimits:
    """The limits of numbers that follow from facts."""

    facts: LinearFacts
    lower: Integers
    upper: Integers
    _tracer: _Tracer | None = None

    def proof(self, target: int, *, is_upper: bool) -> Certificate | None:
        """Return the rows from which a limit follows; None where it would take too many."""
        rows = self.traced(target, is_upper=is_upper)
        return None if rows is None else verified(self.facts, target, rows, is_upper=is_upper)

    def traced(self, target: int, *, is_upper: bool) -> dict[int, Fraction] | None:
        """Return how many times each row is taken to prove a limit."""
        if self._tracer is None:
            self._tracer = _Tracer(_swept(self.facts))
        return self._tracer.rows(target, is_upper=is_upper)


def propagate(facts: LinearFacts) -> ImpliedLimits:
    """Return the limits that rows imply; `NoNumbersError` if a row cannot be satisfied.

    Examples
    --------
    >>> facts = LinearFacts.of(
    ...     [(0, None), (0, None)], [({0: 1, 1: 1}, 5, 5), ({1: 1}, 3, 3)], whole=True
    ... )
    >>> found = propagate(facts)
    >>> found.lower.tolist(), found.upper.tolist()
    ([2, 3], [2, 3])
    >>> found.proof(0, is_upper=True).rows
    {0: Fraction(1, 1), 1: Fraction(-1, 1)}
    """
    from gamekeeper.algorithms.linear import kernels

    if np.any(facts.lower > facts.upper):
        raise NoNumbersError
    if not facts.is_small:
        steps = _swept(facts)
        return ImpliedLimits(facts, steps.lower, steps.upper)
    lower, upper = facts.lower.copy(), facts.upper.copy()
    starts, rows, _ = facts.by_number
    broken = kernels.propagate(
        facts.starts, facts.members, facts.short_factors, facts.low, facts.high, starts, rows,
        lower, upper, facts.endless, facts.whole, np.arange(facts.n_rows), facts.n_rows,
    )  # fmt: skip
    if broken >= 0:
        # The rows that are told are those of the shortest way to a contradiction.
        _swept(facts)
        raise NoNumbersError([int(broken)])
    return ImpliedLimits(facts, lower, upper)


@dataclass(eq=False, repr=False)
class _Steps:
    """Limits, and how they came about.

    `taken` has for each sweep the numbers whose limits changed: which, whether the upper one, the
    row that told, and the limit before.
    """

    facts: LinearFacts
    lower: Integers
    upper: Integers
    taken: list[tuple[Integers, bool, Integers, Integers]] = field(
        default_factory=list[tuple[Integers, bool, Integers, Integers]]
    )


def _swept(facts: LinearFacts) -> _Steps:
    """Return limits sweep by sweep, all rows at once, so that each comes from as few as can be."""
    steps = _Steps(facts, facts.lower.copy(), facts.upper.copy())
    lengths = np.diff(facts.starts)
    rows, empty = np.flatnonzero(lengths > 0), np.flatnonzero(lengths == 0)
    wrong = (facts.low[empty] > 0) | (facts.high[empty] < 0)
    if np.any(wrong):
        raise NoNumbersError(empty[wrong].tolist())
    if not len(rows):
        return steps
    entries = _Entries(facts, rows)
    for _ in range(_MOST_SWEEPS):
        changed = False
        for is_upper in (True, False):
            changed |= _sweep(steps, entries, is_upper=is_upper)
        if not changed:
            break
    return steps


class _Entries:
    """The entries of the rows that have some, in plain arrays."""

    def __init__(self, facts: LinearFacts, rows: Integers) -> None:
        self.kind: Any = np.int64 if facts.is_small else object
        self.rows = rows
        self.starts = facts.starts[rows]
        self.lengths = np.diff(facts.starts)[rows]
        self.members = facts.members
        self.factors = facts.factors.astype(self.kind)
        self.is_positive = facts.factors > 0
        self.of_entry = np.repeat(np.arange(len(rows)), self.lengths)
        self.whole = facts.whole


def _sweep(steps: _Steps, entries: _Entries, *, is_upper: bool) -> bool:
    """Tighten all limits of one side by all rows once."""
    facts = steps.facts
    members = entries.members
    before = steps.upper if is_upper else steps.lower
    found: list[tuple[Integers, Integers, Integers]] = []
    for from_high in (True, False):
        # An upper limit comes from the upper limit of a row where the factor is positive.
        wanted = entries.is_positive == (is_upper == from_high)
        least = np.where(
            entries.is_positive == from_high, steps.lower[members], steps.upper[members]
        )
        # The sum of the others, as small (for a row's upper limit) or as large as it can be.
        endless = np.abs(least) >= NO_LIMIT
        value = np.where(endless, 0, least).astype(entries.kind) * entries.factors
        total = np.add.reduceat(value, entries.starts)
        n_endless = np.add.reduceat(endless.astype(np.int64), entries.starts)
        row_limit = (facts.high if from_high else facts.low)[entries.rows]
        of = entries.of_entry
        if from_high:
            broken = (n_endless == 0) & (row_limit < NO_LIMIT) & (total > row_limit)
        else:
            broken = (n_endless == 0) & (row_limit > -NO_LIMIT) & (total < row_limit)
        if np.any(broken):
            raise NoNumbersError(entries.rows[broken].tolist())
        others = n_endless[of] - endless
        usable = wanted & (others == 0) & (np.abs(row_limit) < NO_LIMIT)[of]
        at = np.flatnonzero(usable)
        if not len(at):
            continue
        room = row_limit.astype(entries.kind)[of[at]] - (total[of[at]] - value[at])
        factor = entries.factors[at]
        up = -((-room) // factor)
        down = room // factor
        # Whole numbers are rounded towards what is possible, others away from it.
        implied = (down if entries.whole else up) if is_upper else (up if entries.whole else down)
        own = members[at]
        if entries.kind is object:
            implied = np.array([max(-NO_LIMIT, min(NO_LIMIT, one)) for one in implied], np.int64)
        better = implied < before[own] if is_upper else implied > before[own]
        found.append((own[better], implied[better], entries.rows[of[at]][better]))
    if not found:
        return False
    numbers, values, rows = (np.concatenate([part[k] for part in found]) for k in range(3))
    if not len(numbers):
        return False
    order = np.lexsort((rows, values if is_upper else -values, numbers))
    first = np.concatenate([[True], numbers[order][1:] != numbers[order][:-1]])
    best = order[first]
    who = numbers[best]
    steps.taken.append((who, is_upper, rows[best], before[who].copy()))
    before[who] = values[best]
    if np.any(steps.lower > steps.upper):
        wrong = np.flatnonzero(steps.lower > steps.upper)
        raise NoNumbersError(sorted(set(rows[best][np.isin(who, wrong)].tolist())))
    return True


class _Tracer:
    """Traces limits back to multiples of rows; what was traced is kept."""

    def __init__(self, steps: _Steps) -> None:
        self._facts = steps.facts
        self._history: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        for time, (who, is_upper, rows, _) in enumerate(steps.taken):
            for number, row in zip(who.tolist(), rows.tolist(), strict=True):
                self._history.setdefault((number, is_upper), []).append((time, row))
        self._known: dict[tuple[int, bool, int], dict[int, Fraction] | None] = {}

    def rows(self, target: int, *, is_upper: bool) -> dict[int, Fraction] | None:
        wanted = self._at(target, is_upper, NO_LIMIT)
        waiting = [wanted]
        while waiting:
            number, side, time = waiting[-1]
            if waiting[-1] in self._known:
                waiting.pop()
                continue
            if time < 0:
                self._known[waiting.pop()] = {}
                continue
            row = next(row for at, row in self._history[number, side] if at == time)
            needed = self._needed(number, side, time, row)
            missing = [one for one, _ in needed if one not in self._known]
            if missing:
                waiting += missing
                continue
            self._known[waiting.pop()] = self._combined(number, row, needed)
        return self._known[wanted]

    def _at(self, number: int, is_upper: bool, before: int) -> tuple[int, bool, int]:
        times = [time for time, _ in self._history.get((number, is_upper), ()) if time < before]
        return number, is_upper, times[-1] if times else -1

    def _needed(
        self, number: int, is_upper: bool, time: int, row: int
    ) -> list[tuple[tuple[int, bool, int], Fraction]]:
        """Return the limits of the others in a row that a limit stands on, with their factors."""
        own = self._facts.row(row)
        factor = own[number]
        found: list[tuple[tuple[int, bool, int], Fraction]] = []
        for member, times in own.items():
            if member != number:
                ratio = Fraction(-times, factor)
                side = is_upper if ratio > 0 else not is_upper
                found.append((self._at(member, side, time), ratio))
        return found

    def _combined(
        self, number: int, row: int, needed: list[tuple[tuple[int, bool, int], Fraction]]
    ) -> dict[int, Fraction] | None:
        found = {row: Fraction(1, self._facts.row(row)[number])}
        for one, ratio in needed:
            below = self._known[one]
            if below is None:
                return None
            for other, times in below.items():
                found[other] = found.get(other, Fraction(0)) + ratio * times
        if len(found) > _MOST_ROWS_OF_PROOF:
            return None
        return found
