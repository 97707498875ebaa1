"""Classes with categories of a variable merged, or the variable left out, under the same models.

The models give the probability of a merged class by summing over the categories in question, those
that were not sampled included. A merged class counts as one record, like every class in
`population_model`: of its own records in the margin of a cell, each counts 1/f. It holds a cell for
each category that is merged, so that there are as many cells as classes times categories; they are
made for a stretch of classes at a time. A margin that holds the variable is counted once, as a
table with a line for its other variables and a place for each category.

**Sampling fractions.** Where strata were sampled with different fractions, a record of a merged
class stands for as many people as those of its cells do on average, weighted by their
probabilities. Let a class have r_h records in expectation from stratum h, sampled with the fraction
pi_h. Then r_h (1-pi_h)/pi_h of its people are outside the sample in expectation, and a record of
the class stands for

    w = sum of s_h / pi_h,  s_h = r_h / sum of r

people on average: the class is sampled with 1/w, the harmonic mean of the fractions over the
records that such a class would have. Where the key tells the stratum, that is the fraction of the
stratum. Where it does not, the records of the class have different fractions, and the one record of
a sample unique says little of the s_h: taking its own fraction would make those from the dense
strata look unique too often. So the shares are learnt from all records that agree on those key
variables that tell the fraction: variables are added, the best first, while the probability of the
fractions given their values rises (Dirichlet prior of precision 1 for each combination of values).
With no such variable every cell has the fraction of the file, records over people. A combination
that no record has takes the fraction of the one without the variable that was added last. Cost: one
count of the records for each variable tried, so K for each variable that is added.

**Near twins**, pairs of records that differ in one variable alone, tell of the level of a file.
Where a file has few pairs, it has many more near twins, and the models say how many to expect: with
a variable v left out, a sample unique has the rate e^(level + z_v), z_v being the log of the rate
that is usual for its class without v (`usual_log_rates`), of which e^(level + z) are twins in v
too. Two records that differ in one variable differ in no other, so that no pair of records is
counted twice, and none is a pair of the file: near twins and pairs are two witnesses. The level of
near twins is found as that of pairs is, by a logistic regression over the classes of one and two
records without v, for all v together, without those that are pairs with v; and from it the prior of
the level:

    mean      (1 - s) 0.2 + s (0.06 + 0.95 level of near twins),    s = near twins / (near twins + 15)
    deviation sqrt(0.18^2 + (1 - s) (0.3^2 - 0.18^2))

On the settings named in `rate_calibration` with 30 near twins or more, the line of the true level
on that of near twins rose by 0.86 to 1.08 from 0.06 to 0.08 without one of the populations, with a
deviation of 0.15 to 0.19. On that one it erred by 0.09 to 0.30, the mean level of the others by
0.15 to 0.56, and by less in none. Cost: that of leaving out every variable. It is spared where
there are so many pairs that a prior changes nothing, or so many cells that it would take long.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.decomposable.graphs import AdjacencyLike
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, JunctionTree, junction_tree
from gamekeeper.algorithms.models.latent_classes import LatentClasses
from gamekeeper.algorithms.models.rate_calibration import LevelPrior, usual_log_rates
from gamekeeper.algorithms.statistics import Step, chances, climb
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.integer[Any]]


class CellFractions:
    """Sampling fractions of cells, by the key variables that tell them.

    `variables` are these by number, the most telling first; `lowest` and `highest` bound a record's
    fraction.
    """

    def __init__(
        self, variables: tuple[int, ...], codes: Integers, fractions: Floats, counts: Integers
    ) -> None:
        self.variables = variables
        self.lowest, self.highest = float(fractions.min()), float(fractions.max())
        values, group = np.unique(fractions, return_inverse=True)
        self._steps = [
            _mean_by_key(codes[:, :n], 1 / values, group, counts) for n in range(len(variables) + 1)
        ]

    def __repr__(self) -> str:
        return (
            f"CellFractions({self.lowest:.4g} to {self.highest:.4g},"
            f" told by {count_of(len(self.variables), 'variable')})"
        )

    def people_per_record(self, rows: Codes) -> Floats:
        """Return how many people of the population a record of each cell stands for."""
        found = np.full(len(rows), self._steps[0][1][0])
        codes = rows[:, list(self.variables)].astype(np.int64)
        for n, (keys, people) in enumerate(self._steps[1:], start=1):
            known, asked = class_numbers(keys, codes[:, :n])
            place = np.full(int(max(known.max(), asked.max(initial=0))) + 1, -1)
            place[known] = np.arange(len(known))
            at = place[asked]
            found = np.where(at >= 0, people[at], found)
        return found

    def of(self, rows: Codes) -> Floats:
        """Return the sampling fraction of each cell."""
        return 1 / self.people_per_record(rows)


def learn_fractions(
    codes: Codes, fractions: ArrayLike, counts: Integers | None = None
) -> CellFractions:
    """Learn from the records of a sample with which fraction the people of a cell were sampled.

    Codes have a row for each record and a column for each key variable; fractions are above 0 and
    up to 1. `counts` says how many records each row stands for; one if None.

    Examples
    --------
    The first variable tells the stratum, the second does not.

    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 9)
    >>> found = learn_fractions(rows, np.where(rows[:, 0] == 0, 0.01, 0.2))
    >>> found.variables, found.of(np.array([[0, 1], [1, 7]])).round(6)
    ((0,), array([0.01, 0.2 ]))
    """
    given = np.asarray(fractions, dtype=np.float64)
    _check(codes, given)
    each = np.ones(len(codes), dtype=np.int64) if counts is None else counts
    values, group = np.unique(given, return_inverse=True)
    chosen: list[int] = []
    best = _log_probability(np.zeros(len(codes), dtype=np.int64), group, len(values), each)
    classes = np.zeros(len(codes), dtype=np.int64)
    while len(values) > 1 and len(chosen) < codes.shape[1]:
        tried = {
            v: class_numbers(np.stack([classes, codes[:, v].astype(np.int64)], axis=1))[0]
            for v in range(codes.shape[1])
            if v not in chosen
        }
        scores = {
            v: _log_probability(found, group, len(values), each) for v, found in tried.items()
        }
        first = max(scores, key=lambda v: scores[v])
        if scores[first] <= best:
            break
        chosen.append(first)
        best, classes = scores[first], tried[first]
    return CellFractions(tuple(chosen), codes[:, chosen].astype(np.int64), given, each)


def _mean_by_key(
    codes: Integers, people: Floats, group: Integers, counts: Integers
) -> tuple[Integers, Floats]:
    """Return the distinct keys and the mean over their records, given that of each group.

    Records of a group are counted first, so that the mean does not depend on who stands for whom.
    """
    (classes,) = class_numbers(codes)
    _, first = np.unique(classes, return_index=True)
    cells, line = np.unique(classes * len(people) + group, return_inverse=True)
    records = np.bincount(line, counts)
    of_cell = people[cells % len(people)]
    sums = np.bincount(cells // len(people), records * of_cell)
    means = sums / np.bincount(cells // len(people), records)
    # Sums round; where all are equal the mean is that number.
    low, high = np.full(len(first), np.inf), np.zeros(len(first))
    np.minimum.at(low, cells // len(people), of_cell)
    np.maximum.at(high, cells // len(people), of_cell)
    return codes[first], np.where(low == high, low, means)


def _log_probability(classes: Integers, group: Integers, n_groups: int, counts: Integers) -> float:
    """Return the log probability of the groups of records given their classes."""
    from scipy.special import gammaln

    totals = np.bincount(classes, counts)
    cells = np.bincount(classes * n_groups + group, counts)
    share = 1 / n_groups
    filled = cells[cells > 0]
    above = (gammaln(filled + share) - gammaln(share)).sum()
    return float(above - gammaln(totals + 1.0).sum())


def _check(codes: Codes, fractions: Floats) -> None:
    right = codes.ndim == 2 and fractions.shape == (len(codes),)
    if not right or not len(codes) or not bool(np.all((fractions > 0) & (fractions <= 1))):
        raise InputError(
            Reason.BAD_OPTION,
            "Sampling fractions of cells were to be learnt from records.",
            f"There are {fractions.size:,} fractions for {count_of(len(codes), 'record')},"
            " or some are outside of (0, 1].",
            "Give at least one record, and a share of the population for each.",
        )


# A table of a margin may have so many places.
_PLACES_PER_CLASS = 4
_LEAST_PLACES = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The cells of some merged classes, one after the other.

    `members` is a class of the table that agrees with the cell on all other variables, `places` the
    place of the cell's code among those observed, `starts` where the cells of a class begin.
    `taken` are the cells with records of the merged class beyond the one that it counts as, and
    `surplus` how many these are.
    """

    members: Integers
    places: Integers
    starts: Integers
    taken: Integers
    surplus: Floats


class CellGrid:
    """The cells of merged classes: a row with each code that is merged with its own."""

    def __init__(
        self, table: ClassTable, variable: int, mapping: Integers, merged: Integers, small: Integers
    ) -> None:
        column = table.rows[:, variable]
        self.codes = np.unique(column).astype(np.int64)
        self.place_of = np.zeros(table.levels[variable], dtype=np.int64)
        self.place_of[self.codes] = np.arange(len(self.codes))
        new = mapping[self.codes]
        self._order = np.argsort(new, kind="stable")
        groups, self._group_starts, self._group_sizes = np.unique(
            new[self._order], return_index=True, return_counts=True
        )
        self.most_cells = int(self._group_sizes.max())
        self._group_of = np.searchsorted(groups, new)
        rank = np.empty(len(new), dtype=np.int64)
        rank[self._order] = np.arange(len(new))
        self._rank = rank - self._group_starts[self._group_of]
        self._own_place = self.place_of[column]
        # Rows of merged classes of two or three records, in the order of these classes.
        number = np.full(int(merged.max()) + 1, -1, dtype=np.int64)
        number[small] = np.arange(len(small))
        class_of = number[merged]
        held = np.flatnonzero(class_of >= 0)
        self._held = held[np.argsort(class_of[held], kind="stable")]
        self._class_of_held = class_of[self._held]
        self._records = table.counts

    def cells(self, own: slice, chosen: Integers, counts: Integers) -> Cells:
        """Return the cells of a stretch of the merged classes."""
        group = self._group_of[self._own_place[chosen]]
        sizes = self._group_sizes[group]
        starts = np.cumsum(sizes) - sizes
        owner = np.repeat(np.arange(len(chosen)), sizes)
        within = np.arange(len(owner)) - starts[owner]
        places = self._order[self._group_starts[group][owner] + within]
        begin, end = np.searchsorted(self._class_of_held, (own.start, own.start + len(chosen)))
        held = self._held[begin:end]
        number = self._class_of_held[begin:end] - own.start
        surplus = self._records[held] * (1 - 1 / counts[number])
        taken = starts[number] + self._rank[self._own_place[held]]
        some = surplus > 0
        return Cells(chosen[owner], places, starts, taken[some], surplus[some])


class LogMargins:
    """Logs of the numbers of records with given codes on a set of variables, one of them free.

    A table, with a line for the others and a place for each code of the free one; where it would be
    large, a sorted list of the places that have records.
    """

    def __init__(self, table: ClassTable, mask: int, variable: int, place_of: Integers) -> None:
        n_places = int(place_of.max()) + 1
        room = _PLACES_PER_CLASS * len(table) + _LEAST_PLACES
        numbers = table.numbers(mask ^ 1 << variable)
        if (int(numbers.max()) + 1) * n_places > room:
            _, numbers = np.unique(numbers, return_inverse=True)
        self._lines = numbers.astype(np.int64) * n_places
        joint = self._lines + place_of[table.rows[:, variable]]
        self._keys: Integers | None = None
        if int(self._lines.max()) + n_places > room:
            self._keys, joint = np.unique(joint, return_inverse=True)
            n_counts = len(self._keys) + 1
        else:
            n_counts = int(self._lines.max()) + n_places
        counts = table.totals(joint, n_counts)
        self._counts = counts.astype(np.min_scalar_type(table.n_records))
        with np.errstate(divide="ignore"):
            self._logs = np.log(counts)

    def of(self, cells: Cells) -> Floats:
        """Return the logs for some cells; -inf where there is no record."""
        at = self._lines[cells.members] + cells.places
        if self._keys is not None:
            # What is not in the list is found at its end, where there is no record.
            found = np.searchsorted(self._keys, at)
            inside = np.minimum(found, len(self._keys) - 1)
            at = np.where(self._keys[inside] == at, inside, len(self._keys))
        logs = self._logs[at]
        with np.errstate(divide="ignore"):
            left = self._counts[at[cells.taken]] - cells.surplus
            logs[cells.taken] = np.log(np.maximum(left, 0.0))
        return logs


# What latent classes weigh beside all decomposable models: a choice by experiment.
LATENT_SHARE = 0.4
_LARGEST = 3
# Classes are taken in stretches with so many cells, which bounds the memory.
_CELLS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True, repr=False)
class MergedClasses:
    """Classes of up to three records after merging categories of a variable.

    - `members`: a class of the original table that each merged class holds.
    - `counts`: records of the merged class, or its households where the table counts those: 1, 2 or
      3, which is all that the calibration uses. `records`: its records.
    - `log_expected`: the log of its expected count, pooled over models.
    - `fractions`: the sampling fraction of each merged class; None where those of cells were not
      given.
    """

    members: Integers
    counts: Integers
    records: Integers
    log_expected: Floats
    fractions: Floats | None = None

    def __repr__(self) -> str:
        return f"MergedClasses({count_of(len(self.counts), 'class', 'classes')} of up to 3 records)"


def merge_classes(
    table: ClassTable,
    models: Sequence[AdjacencyLike | JunctionTree],
    variable: int,
    recode: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    fractions: CellFractions | None = None,
    latent: LatentClasses | None = None,
) -> MergedClasses:
    """Merge categories of a variable and sum cell probabilities over what is merged.

    Models are decomposable graphs as adjacency masks, or junction trees; their `weights` are equal
    if not given. `recode` has the new code of each code of the variable; all into one, which leaves
    it out, if not given. `fractions` are those of cells, where strata differ, `latent` a latent
    class model to average with.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1]], [1, 1, 1])
    >>> merged = merge_classes(table, [[0, 0]], 1)
    >>> merged.counts, np.exp(merged.log_expected).round(3)
    (array([2, 1]), array([1.5, 1. ]))
    """
    mapping = checked_recode(table, variable, recode)
    shares = np.ones(len(models)) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum()
    others = (1 << table.n_variables) - 1 ^ 1 << variable
    new_codes = mapping[table.rows[:, variable]]
    (merged,) = class_numbers(np.stack([table.numbers(others), new_codes], axis=1))
    _, first = np.unique(merged, return_index=True)
    sizes = table.totals(merged).astype(np.int64)
    small = np.flatnonzero(sizes <= _LARGEST)
    chosen, counts = first[small], sizes[small]
    without, with_it = _factors(models, shares, variable)
    pooled = np.zeros(len(small))
    for mask, power in without.items():
        if power:
            pooled += power * np.log(table.margin(mask)[chosen] - counts + 1)
    grid = CellGrid(table, variable, mapping, merged, small)
    margins = {
        mask: LogMargins(table, mask, variable, grid.place_of)
        for mask in {mask for factors in with_it for mask, _ in factors}
    }
    stands_for = np.zeros(len(small))
    step = max(1, _CELLS_AT_ONCE // max(grid.most_cells, 1))
    for begin in range(0, len(small), step):
        own = slice(begin, begin + step)
        cells = grid.cells(own, chosen[own], counts[own])
        logs = {mask: margin.of(cells) for mask, margin in margins.items()}
        people = None
        if fractions is not None:
            rows = table.rows[cells.members].astype(np.int64)
            rows[:, variable] = grid.codes[cells.places]
            people = fractions.people_per_record(rows)
        for factors, share in with_it.items():
            chance = np.zeros(len(cells.places))
            for mask, power in factors:
                with np.errstate(invalid="ignore"):
                    chance += power * logs[mask]
            # A clique without records makes the cell impossible, whatever its separators hold.
            chance = np.exp(np.where(np.isnan(chance), -np.inf, chance))
            total = np.add.reduceat(chance, cells.starts)
            pooled[own] += share * np.log(total)
            if people is not None:
                stands_for[own] += share * np.add.reduceat(chance * people, cells.starts) / total
    pooled += np.log(table.n_records)
    if latent is not None:
        _, codes = np.unique(mapping, return_inverse=True)
        rows = table.rows[chosen].astype(np.int64)
        rows[:, variable] = codes[rows[:, variable]]
        pooled = averaged(pooled, latent.merged(variable, codes).log_expected(rows, counts))
    return MergedClasses(
        chosen,
        counts,
        np.bincount(merged, weights=table.records).astype(np.int64)[small],
        pooled,
        # Means round, and nobody stands for less than one.
        None if fractions is None else 1 / np.maximum(stands_for, 1.0),
    )


def averaged(log_expected: Floats, by_latent: Floats) -> Floats:
    """Return the mean of log expected counts of decomposable models and of latent classes."""
    return (1 - LATENT_SHARE) * log_expected + LATENT_SHARE * by_latent


def _factors(
    models: Sequence[AdjacencyLike | JunctionTree], shares: Floats, variable: int
) -> tuple[dict[int, float], dict[tuple[tuple[int, int], ...], float]]:
    """Return the margins of which the models are products, apart by whether they hold a variable.

    Those without it come with their mean power over models, the others as products with the share
    of the models that have the same.
    """
    without: defaultdict[int, float] = defaultdict(float)
    with_it: defaultdict[tuple[tuple[int, int], ...], float] = defaultdict(float)
    for model, share in zip(models, shares.tolist(), strict=True):
        tree = model if isinstance(model, JunctionTree) else junction_tree(model)
        powers = Counter(tree.cliques)
        powers.subtract(tree.separators)
        for mask, power in powers.items():
            if not mask >> variable & 1:
                without[mask] += share * power
        held = sorted((m, p) for m, p in powers.items() if p and m >> variable & 1)
        with_it[tuple(held)] += share
    return without, with_it


def checked_recode(table: ClassTable, variable: int, recode: ArrayLike | None) -> Integers:
    """Return the new code of each code of a variable; all 0 if none are given."""
    known = 0 <= variable < table.n_variables
    n_codes = table.levels[variable] if known else 0
    mapping = np.zeros(n_codes, dtype=np.int64) if recode is None else np.asarray(recode)
    if not known or mapping.shape != (n_codes,) or not np.issubdtype(mapping.dtype, np.integer):
        raise InputError(
            Reason.BAD_OPTION,
            f"Categories of variable {variable} were to be merged or left out.",
            f"There are {count_of(table.n_variables, 'variable')}, and {count_of(n_codes, 'code')}"
            f" for {mapping.size:,} new ones.",
            "Name a variable from 0 up, and give one whole number for each of its codes.",
        )
    return mapping.astype(np.int64)


_MANY_PAIRS = 400
_MOST_CELLS = 50_000_000
_HALF_WEIGHT = 15.0
_BASE, _SHARE = 0.06, 0.95
_BETWEEN = 0.18
_SETTLED = 1e-9
_LEAST_APART = 1e-6


def learn_level(
    table: ClassTable,
    models: Sequence[AdjacencyLike | JunctionTree],
    log_expected: Floats,
    weights: ArrayLike | None = None,
    latent: LatentClasses | None = None,
) -> LevelPrior:
    """Return the prior of the level that near twins of a file lead to.

    `log_expected` is the log of the expected count of each class under the models.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1], [2, 2]], [1, 1, 1, 1])
    >>> learn_level(table, [[0, 0]], np.zeros(4)).n_near
    2
    """
    usual = LevelPrior()
    n_cells = len(table) * sum(table.levels)
    is_small = table.n_variables < 2 or n_cells > _MOST_CELLS
    if is_small or np.count_nonzero(table.counts == 2) >= _MANY_PAIRS:
        return usual
    offsets: list[Floats] = []
    n_near, every = 0, (1 << table.n_variables) - 1
    rates = np.exp(usual_log_rates(log_expected))
    for variable in range(table.n_variables):
        merged = merge_classes(table, models, variable, weights=weights, latent=latent)
        numbers = table.numbers(every ^ 1 << variable)
        mean_rates = np.bincount(numbers, rates) / np.maximum(np.bincount(numbers), 1)
        apart = table.counts[merged.members] == 1
        near = (merged.counts == 2) & apart
        used = (merged.counts == 1) | near
        wide = usual_log_rates(merged.log_expected[used])
        # The rate without the variable, less that with it, of one class or the mean of two.
        narrow = mean_rates[numbers[merged.members[used]]] * np.exp(-wide)
        offsets.append(wide + np.log(np.maximum(1 - narrow, _LEAST_APART)) - math.log(2))
        n_near += int(np.count_nonzero(near))
    level = _level(np.concatenate(offsets), n_near)
    if level is None:
        return usual
    weight = n_near / (n_near + _HALF_WEIGHT)
    mean = (1 - weight) * usual.mean + weight * (_BASE + _SHARE * level)
    spread = _BETWEEN**2 + (1 - weight) * (usual.deviation**2 - _BETWEEN**2)
    return LevelPrior(mean, math.sqrt(spread), n_near)


def _level(offsets: Floats, n_near: int) -> float | None:
    """Return the level at which as many near twins are expected as there are, and half of one.

    The sum of logistic curves is the slope of a concave function, climbed by steps of 1 at most;
    None where there are no records, or none could have a near twin.
    """
    if not len(offsets):
        return None
    top = float(offsets.max())
    wanted = min(n_near + 0.5, len(offsets) - 0.5)
    level = math.log(wanted / float(np.exp(offsets - top).sum())) - top

    def height(level: Floats) -> float:
        # The same as logaddexp(0, x) up to 700, in half the time.
        costs = np.log1p(np.exp(np.minimum(level + offsets, 700.0)))
        return wanted * float(level[0]) - float(costs.sum())

    def step(level: Floats) -> Step:
        chance = chances(level + offsets)
        missing = wanted - float(chance.sum())
        way = missing / max(float((chance * (1 - chance)).sum()), 1e-300)
        cut = float(np.clip(way, -1, 1))
        return Step(np.array([cut]), missing * cut, abs(way) <= _SETTLED)

    found = climb(np.array([level]), height, step)
    return None if found is None else float(found[0][0] + found[1][0])
