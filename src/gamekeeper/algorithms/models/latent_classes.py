"""A latent class model: within each of a few classes of people the variables are independent.

It is another kind of model than decomposable ones and errs elsewhere, so that the two together rank
keys better than either. A row x has the probability

    p(x) = sum over classes c of share_c * product over variables v of t_cv(x_v).

Fitted by expectation and maximization. In every class five records are thought to be like all
records of the sample, so that a category which a class does not have is as rare there as elsewhere,
and not impossible; what nobody has is. Classes come by halving, from one up: each is split along
the axis on which its rows differ most (reciprocal averaging, a few rounds, from the logarithms of
its table), then all climb together. No chance is in it, so that neither the order of records nor
the numbers of categories matter but for rounding. There are 2, 4, 8, 16 or 32 classes, as many as
leave four records for each class and variable: a choice by experiment.

A variable is left out by leaving out its factor, and categories are merged by adding theirs.

Each climb ends when a step gains less than 1e-4 per record in log probability, or after a number of
steps: ten before a split, a hundred at the end, fewer in very large files. `settled` says which. A
step takes rows times classes times variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CLASSES = (32, 16, 8, 4, 2)
_RECORDS_PER_CLASS = 4
_LIKE_ALL = 5.0
_SHARE_PRIOR = 0.5
_ROUNDS = 5
# A category of few records says little of an axis.
_STEADY = 5.0
_FIRST_STEPS, _LAST_STEPS, _LEAST_STEPS = 10, 100, 10
_MOST_WORK = 2_000_000_000
_SETTLED = 1e-4
_LEAST = 1e-12


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LatentClasses:
    """A fitted model, by the lines of the categories of each variable (from `starts` on).

    `records` is the expected number of records of each class, `cells` the same for each category
    (lines) and class, `prior` the records that every class was thought to have of each category.
    `settled` says whether the last climb ended because a step gained nothing more.
    """

    starts: tuple[int, ...]
    records: Floats
    cells: Floats
    prior: Floats
    n_records: float
    settled: bool

    def __repr__(self) -> str:
        return f"LatentClasses({len(self.records)} classes, {len(self.starts)} variables)"

    def log_expected(
        self, rows: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]]
    ) -> Floats:
        """Return the log of the expected count of rows that have so many records.

        Of the row's own records all but one are left out, as for decomposable models.

        Examples
        --------
        >>> model = fit_latent_classes([[0, 0], [1, 1]], [2, 2], [2, 2])
        >>> model.log_expected(np.array([[0, 0]]), np.array([1])).shape
        (1,)
        """
        from gamekeeper.algorithms.models.kernels import log_rows

        logs = np.empty(len(rows))
        log_rows(
            rows.astype(np.int64) + np.array(self.starts, dtype=np.int64),
            counts.astype(np.float64) - 1,
            self.n_records,
            _SHARE_PRIOR,
            self.records,
            self.cells,
            self.prior,
            _LIKE_ALL,
            logs,
        )
        return logs + np.log(self.n_records)

    def merged(self, variable: int, recode: Integers) -> LatentClasses:
        """Return the model of rows with new codes of a variable; one code for all leaves it out."""
        ends = (*self.starts[1:], len(self.prior))
        begin, end = self.starts[variable], ends[variable]
        n_new = int(recode.max(initial=0)) + 1
        cells = np.zeros((n_new, self.cells.shape[1]))
        np.add.at(cells, recode, self.cells[begin:end])
        prior = np.bincount(recode, self.prior[begin:end], n_new)
        shift = n_new - (end - begin)
        return replace(
            self,
            starts=tuple(
                start + (shift if place > variable else 0)
                for place, start in enumerate(self.starts)
            ),
            cells=np.concatenate([self.cells[:begin], cells, self.cells[end:]]),
            prior=np.concatenate([self.prior[:begin], prior, self.prior[end:]]),
        )


def fit_latent_classes(
    rows: ArrayLike, counts: ArrayLike, levels: Sequence[int], n_classes: int | None = None
) -> LatentClasses:
    """Fit a latent class model to the distinct rows of a sample.

    Rows are codes from 0 up; `counts` says how many records each has, `levels` how many categories
    each variable. The number of classes is a power of 2, by the number of records if not given.

    Examples
    --------
    Two kinds of people are told apart.

    >>> model = fit_latent_classes([[0, 0, 0], [1, 1, 1]], [50, 50], [2, 2, 2], 2)
    >>> sorted(model.records.round().tolist())
    [50.0, 50.0]
    """
    table, sizes = np.asarray(rows).astype(np.int64), np.asarray(levels, dtype=np.int64)
    # In one order whatever the order of rows was: sums round.
    order = np.lexsort(table.T[::-1])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    places, weights = table[order] + starts, np.asarray(counts, dtype=np.float64)[order]
    climb = _Climb(places, weights, int(sizes.sum()))
    n_variables = places.shape[1]
    if n_classes is None:
        enough = (k for k in _CLASSES if k * n_variables * _RECORDS_PER_CLASS <= climb.n_records)
        n_classes = next(enough, _CLASSES[-1])
    while len(climb.records) < n_classes:
        climb.split()
        is_last = len(climb.records) >= n_classes
        work = max(places.size * len(climb.records), 1)
        most = _LAST_STEPS if is_last else _FIRST_STEPS
        climb.go_on(max(min(most, _MOST_WORK // work), min(most, _LEAST_STEPS)))
    return LatentClasses(
        tuple(starts.tolist()),
        climb.records,
        climb.cells,
        climb.prior,
        climb.n_records,
        climb.settled,
    )


class _Climb:
    """The rows, and the classes as they are by now; one class to begin with."""

    def __init__(self, places: Integers, weights: Floats, n_cells: int) -> None:
        self._places, self._weights = places, weights
        self.n_records = float(weights.sum())
        each = np.repeat(weights, places.shape[1])
        margin: Floats = np.bincount(places.ravel(), each, n_cells).astype(np.float64)
        self.prior: Floats = _LIKE_ALL * margin / max(self.n_records, 1.0)
        self.records: Floats = np.array([self.n_records])
        self.cells: Floats = margin[:, None].copy()
        self.settled = True

    def go_on(self, most_steps: int) -> None:
        """Take steps of expectation and maximization until one gains nothing more."""
        self.settled = False
        last = -np.inf
        for _ in range(most_steps):
            records, cells, height, _ = self._pass("expect")
            self.records, self.cells = records, cells
            if height - last < _SETTLED * self.n_records:
                self.settled = True
                return
            last = height

    def split(self) -> None:
        """Split each class along the axis on which its rows differ most."""
        _, tables = self._shares()
        axes = np.log(np.maximum(tables, _LEAST))
        n_classes = len(self.records)
        ones, least = np.ones(n_classes), np.maximum(self.records, _LEAST)
        centres = scales = ones
        for place in range(_ROUNDS):
            centres = (axes * self.cells).sum(axis=0) / least
            _, cells, _, squares = self._pass("lean", axes, centres, ones)
            scales = 1 / np.sqrt(np.maximum(squares / least, _LEAST))
            if place < _ROUNDS - 1:
                axes = cells / (self.cells + _STEADY)
                axes = axes / np.maximum(np.abs(axes).max(axis=0), _LEAST)
        records, cells, _, _ = self._pass("split", axes, centres, scales)
        self.records = np.concatenate([records, self.records - records])
        self.cells = np.concatenate([cells, self.cells - cells], axis=1)
        # What is left by subtraction falls below 0 by rounding.
        self.records, self.cells = np.maximum(self.records, 0.0), np.maximum(self.cells, 0.0)

    def _shares(self) -> tuple[Floats, Floats]:
        shares = (self.records + _SHARE_PRIOR) / (self.n_records + len(self.records) * _SHARE_PRIOR)
        return shares, (self.cells + self.prior[:, None]) / (self.records + _LIKE_ALL)

    def _pass(
        self,
        kind: str,
        axes: Floats | None = None,
        centres: Floats | None = None,
        scales: Floats | None = None,
    ) -> tuple[Floats, Floats, float, Floats]:
        from gamekeeper.algorithms.models import kernels

        kinds = {
            "expect": kernels.EXPECT,
            "lean": kernels.LEAN,
            "split": kernels.SPLIT,
        }
        nothing = np.zeros(len(self.records))
        shares, tables = self._shares()
        records, cells, squares = nothing.copy(), np.zeros_like(self.cells), nothing.copy()
        height = kernels.pass_over(
            self._places,
            self._weights,
            shares,
            tables,
            kinds[kind],
            tables if axes is None else axes,
            nothing if centres is None else centres,
            nothing if scales is None else scales,
            records,
            cells,
            squares,
        )
        return records, cells, float(height), squares
