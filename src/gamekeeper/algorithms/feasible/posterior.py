"""What a release says about each cell: the distribution of its count given all that is published.

The weight of a feasible table is its prior times the probability of the published counts, which is
the product over published sums of what the perturbation scheme says. Sums of that weight over all
tables factorise over the parts of a release (`independent_parts`): a table that is published without
margins is one part per cell, a table with its total is a convolution, and small parts are summed
exactly, over states of rows or over listed tables. Only for what is left are tables drawn at
random, and then every figure has a standard error.

Exact figures are sums of floats: no sampling error, only rounding (below 1e-10, relative, against
fractions on small releases in the tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.chain_diagnostics import effective_size
from gamekeeper.algorithms.feasible.cellwise_sums import TooManySteps, marginals_of_part
from gamekeeper.algorithms.feasible.counting import list_part
from gamekeeper.algorithms.feasible.drawing_time import UNLIMITED, DrawingTime
from gamekeeper.algorithms.feasible.independent_parts import (
    Likelihood,
    TablePart,
    TableWeights,
    split_tables,
)
from gamekeeper.algorithms.feasible.part_sampling import PartSample, SamplingMethod, sample_part
from gamekeeper.algorithms.feasible.sampling import proper_split, start_of_part
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, NoTableError
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Prior = Literal["uniform", "poisson", "multinomial"]

_TABLES_PER_STEP = 20
_FITTING_ROUNDS = 100


@dataclass(frozen=True, eq=False, repr=False)
class CellPosteriors:
    """The distribution of every cell given a release.

    Attributes
    ----------
    first, starts, masses
        The counts of the flat cell c, from `first[c]` up, have the probabilities
        `masses[starts[c]:starts[c + 1]]`.
    mean, p_zero
        The mean of each cell and the probability that it is 0.
    mean_error, p_zero_error
        Their standard errors; 0 where they are exact.
    exact
        Whether no cell had to be estimated from random tables.
    cell_exact
        The same for each cell.
    effective_size
        The number of independent draws that estimates rest on, at least; infinite without any.
    r_hat
        The largest potential scale reduction of walks; 1 without any.
    """

    shape: tuple[int, ...]
    first: Integers
    starts: Integers
    masses: Floats
    mean: Floats
    p_zero: Floats
    mean_error: Floats
    p_zero_error: Floats
    cell_exact: NDArray[np.bool_]
    effective_size: float
    r_hat: float

    @property
    def exact(self) -> bool:
        """Whether no cell had to be estimated from random tables."""
        return bool(self.cell_exact.all())

    def mass(self, cell: int | tuple[int, ...]) -> tuple[Integers, Floats]:
        """Return the counts of a cell that are possible, and their probabilities."""
        at = int(np.ravel_multi_index(cell, self.shape)) if isinstance(cell, tuple) else cell
        masses = self.masses[self.starts[at] : self.starts[at + 1]]
        return self.first[at] + np.arange(len(masses)), masses

    @property
    def largest(self) -> Floats:
        """The probability of the most probable count of each flat cell."""
        return np.maximum.reduceat(self.masses, self.starts[:-1])

    @property
    def mode(self) -> Integers:
        """The most probable count of each cell, the smallest of several."""
        places = [int(self.mass(cell)[1].argmax()) for cell in range(len(self.first))]
        return (self.first + np.array(places, np.int64)).reshape(self.shape)

    def interval(self, level: float = 0.95) -> tuple[Integers, Integers]:
        """Return limits that leave out at most half of 1 - level on either side."""
        if not 0 < level < 1:
            raise InputError(
                Reason.BAD_OPTION,
                "Intervals of cells were asked for.",
                "The level is not between 0 and 1.",
                "Give a level such as 0.95.",
            )
        out = (1 - level) / 2
        ends = np.zeros((2, len(self.first)), np.int64)
        for cell in range(len(self.first)):
            reached = np.cumsum(self.mass(cell)[1])
            # A rounding error must not add a count.
            ends[:, cell] = np.searchsorted(reached, [out + 1e-12, 1 - out - 1e-12])
        ends = np.minimum(ends, np.diff(self.starts) - 1) + self.first
        return ends[0].reshape(self.shape), ends[1].reshape(self.shape)

    def __repr__(self) -> str:
        return f"CellPosteriors(shape={self.shape}, exact={self.exact})"


@dataclass(frozen=True, eq=False)
class _Cells:
    """What was found for the cells of one part: a list of masses and the errors."""

    masses: list[Floats]
    mean_error: Floats
    p_zero_error: Floats
    exact: bool
    effective_size: float = float("inf")
    r_hat: float = 1.0


def cell_posteriors(
    constraints: CountConstraints,
    likelihoods: Sequence[Sequence[Likelihood | None] | None] = (),
    prior: Prior = "uniform",
    *,
    means: ArrayLike | None = None,
    seed: int = 0,
    draws: int = 10_000,
    method: SamplingMethod = "auto",
    exact_limit: int = 2_000_000,
    workers: int | None = None,
    within: DrawingTime = UNLIMITED,
    progress: Progress | None = None,
) -> CellPosteriors:
    """Return the distribution of every cell given all that is published.

    Parameters
    ----------
    likelihoods
        For each margin None, or for each of its cells, flat, None or a pair: a smallest true sum,
        and for it and the following sums the probability of the published count. None stands for
        counts that say no more than their limits.
    prior
        "uniform": all tables are equally likely beforehand. "poisson": independent Poisson counts
        with the given means, or with those of `independence_means`. "multinomial": people fall
        into all cells with equal chances; where their number is not exact, it is Poisson around
        the sum of `independence_means`, which weighs the numbers that are possible nearly alike.
    means
        Means of the Poisson prior, with the shape of the table.
    seed, draws, method, workers
        As in `sample_part`, for parts that have to be sampled.
    exact_limit
        The steps that an exact sum over one part may take; 0 to sample wherever it is not trivial.
    within
        The time that draws may take.
    progress
        Told how many cells are done.

    Raises
    ------
    NoTableError
        If no table is possible.
    InputError
        If there are infinitely many tables under a uniform prior.
    LimitError
        If draws would take too long.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> found = cell_posteriors(known)
    >>> found.exact, found.p_zero.tolist()
    (True, [[0.0, 0.0], [0.5, 0.5]])
    """
    weights = None
    if prior != "uniform":
        if prior == "multinomial":
            chosen = np.full(constraints.shape, independence_means(constraints).mean())
        elif means is None:
            chosen = independence_means(constraints)
        else:
            chosen = np.asarray(means, np.float64)
        weights = TableWeights(chosen, likelihoods)
    elif any(entries is not None for entries in likelihoods):
        weights = TableWeights(None, likelihoods)
    split = proper_split(constraints, weights)
    masses = [np.ones(1)] * constraints.size
    errors = np.zeros((2, constraints.size))
    exact = np.ones(constraints.size, bool)
    worst, r_hat, done = float("inf"), 1.0, 0
    n_open = sum(part.n_cells for part in split.parts)
    for number, part in enumerate(split.parts):
        found = _exact_cells(part, exact_limit, within)
        if found is None:
            sample = sample_part(
                part,
                draws=draws,
                seed=np.random.SeedSequence([seed, number]),
                method=method,
                workers=workers,
                within=within,
                start=lambda part=part: start_of_part(constraints, split, part),
                progress=_share(progress, done, part.n_cells, n_open),
            )
            found = _sampled_cells(part, sample)
        for cell, mass in zip(part.cells.tolist(), found.masses, strict=True):
            masses[cell] = mass
        errors[:, part.cells] = found.mean_error, found.p_zero_error
        exact[part.cells] = found.exact
        worst, r_hat = min(worst, found.effective_size), max(r_hat, found.r_hat)
        done += part.n_cells
        if progress is not None:
            progress(done, n_open)
    first, shape = split.lower, constraints.shape
    means_found = [
        low + float(mass @ np.arange(len(mass)))
        for low, mass in zip(first.tolist(), masses, strict=True)
    ]
    p_zero = [
        0.0 if low else float(mass[0]) for low, mass in zip(first.tolist(), masses, strict=True)
    ]
    return CellPosteriors(
        shape=shape,
        first=first,
        starts=np.cumsum([0, *(len(mass) for mass in masses)], dtype=np.int64),
        masses=np.concatenate(masses) if masses else np.zeros(0),
        mean=np.array(means_found).reshape(shape),
        p_zero=np.array(p_zero).reshape(shape),
        mean_error=errors[0].reshape(shape),
        p_zero_error=errors[1].reshape(shape),
        cell_exact=exact.reshape(shape),
        effective_size=worst,
        r_hat=r_hat,
    )


def independence_means(constraints: CountConstraints) -> Floats:
    """Return means of cells that are independent but for the known sums.

    All cells start with 1 and are scaled to the known sums in turn (iterative proportional
    fitting), to the middle of their limits where they are not exact; sums without an upper limit
    are only brought up to the lower one. The last word have margins with few cells, which are known
    best. So exact one-way margins give the products of the shares.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> independence_means(known).tolist()
    [[1.5, 1.5], [0.5, 0.5]]
    """
    split = split_tables(constraints)
    means = np.ones(constraints.size)
    margins = sorted(constraints.margins, key=lambda margin: -margin.lower.size)
    for _ in range(_FITTING_ROUNDS):
        before = means.copy()
        for margin in margins:
            count = margin.lower.size
            low = np.maximum(
                margin.lower.reshape(-1), np.bincount(margin.cells, split.lower, minlength=count)
            )
            high = np.minimum(
                margin.upper.reshape(-1), np.bincount(margin.cells, split.upper, minlength=count)
            )
            now = np.bincount(margin.cells, means, minlength=count)
            aim = np.where(high >= UNBOUNDED, np.maximum(now, low), (low + high) / 2)
            scale = np.divide(aim, now, out=np.ones(count), where=now > 0)
            means = means * scale[margin.cells]
        if np.allclose(means, before, rtol=1e-9, atol=1e-12):
            break
    is_open = split.lower < split.upper
    # An open cell is never impossible, even where the middle of its limits is nearly 0.
    return np.where(is_open, np.maximum(means, 1e-6), means).reshape(constraints.shape)


def _share(progress: Progress | None, before: int, n_cells: int, n_open: int) -> Progress | None:
    """Return what tells the draws of one part as a share of all open cells."""
    if progress is None:
        return None

    def tell(done: int, total: int | None) -> None:
        progress(before + n_cells * done // (total or 1), n_open)

    return tell


def _exact_cells(part: TablePart, limit: int, within: DrawingTime) -> _Cells | None:
    """Return exact distributions of the cells of a part, or None if they take too many steps."""
    none = np.zeros(part.n_cells)
    if not part.n_rows:
        logs = part.cell_logs[0] if part.cell_logs else np.zeros(int(part.widths[0]) + 1)
        if not np.isfinite(logs.max()):
            raise NoTableError()
        mass = np.exp(logs - logs.max())
        return _Cells([mass / mass.sum()], none, none, exact=True)
    try:
        return _Cells(marginals_of_part(part, limit), none, none, exact=True)
    except TooManySteps:
        pass
    if not limit:
        return None
    try:
        tables = list_part(part, max(1, limit // _TABLES_PER_STEP), within)
    except LimitError:
        return None
    if not len(tables):
        raise NoTableError()
    logs = np.zeros(len(tables))
    for cell, own in enumerate(part.cell_logs):
        logs += own[tables[:, cell]]
    for members, least, own in zip(part.rows, part.row_lower, part.row_logs, strict=True):
        if own is not None:
            logs += own[tables[:, members].sum(axis=1) - least]
    if not np.isfinite(logs.max()):
        raise NoTableError()
    return _Cells(_masses(part, tables, logs), none, none, exact=True)


def _masses(part: TablePart, tables: Integers, logs: Floats) -> list[Floats]:
    """Return the weighted shares of the counts of each cell."""
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return [
        np.bincount(tables[:, cell], weights, minlength=int(part.widths[cell]) + 1).astype(
            np.float64
        )
        for cell in range(part.n_cells)
    ]


def _sampled_cells(part: TablePart, sample: PartSample) -> _Cells:
    """Return estimated distributions of the cells of a part with standard errors."""
    masses = _masses(part, sample.tables, sample.log_weights)
    counts = sample.tables.astype(np.float64)
    is_zero = (sample.tables + part.least == 0).astype(np.float64)
    if sample.n_chains:
        mean_error = np.sqrt(counts.var(axis=0) / sample.effective_sizes)
        sizes = [
            effective_size(is_zero[:, cell].reshape(sample.n_chains, -1))
            for cell in range(part.n_cells)
        ]
        p_zero_error = np.sqrt(is_zero.var(axis=0) / np.array(sizes))
    else:
        weights = np.exp(sample.log_weights - sample.log_weights.max())
        weights /= weights.sum()
        mean_error, p_zero_error = (
            np.sqrt((weights[:, None] ** 2 * (series - weights @ series) ** 2).sum(axis=0))
            for series in (counts, is_zero)
        )
    return _Cells(
        masses, mean_error, p_zero_error, exact=False,
        effective_size=float(sample.effective_sizes.min()), r_hat=float(sample.r_hat.max()),
    )  # fmt: skip
