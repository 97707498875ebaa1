"""How many tables satisfy a release, which they are, and the distribution of each cell among them.

The tables fall into independent parts (`independent_parts`), whose numbers multiply. A part is
counted exactly where sums of rows have few different values on the way, whatever the number of its
tables. Otherwise its tables are visited one by one: a depth-first search that tightens limits after
each step (`enumeration_kernels`). Before that, random draws of known probability estimate how many
tables and steps there will be (Knuth 1975), and a search that would not end is refused.

The weight of a feasible table is its prior times the probability of the published counts, which is
the product over published sums of what the perturbation scheme says. Sums of that weight over all
tables factorise over the parts of a release: a table that is published without margins is one part
per cell, a table with its total is a convolution, and small parts are summed exactly, over states
of rows or over listed tables. Only for what is left are tables drawn at random, and then every
figure has a standard error. Exact figures are sums of floats: no sampling error, only rounding
(below 1e-10, relative, against fractions on small releases in the tests).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.feasible import independent_parts, sampling
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints
from gamekeeper.algorithms.statistics import effective_size
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, power_text

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_LAYER_STEPS = 10_000_000
_NODES_PER_TABLE = 30
_LEAST_NODES = 1_000_000
_CALL = 100_000
_PILOT = 400


def count_tables(
    constraints: CountConstraints,
    *,
    most: int = 10_000_000,
    within: sampling.DrawingTime = sampling.UNLIMITED,
    progress: Progress | None = None,
) -> int | None:
    """Return the number of tables that satisfy the constraints; None if there are infinitely many.

    Of one part at most `most` tables are visited one by one, within the time given. The number
    returned can be far larger: most releases are counted without visiting each table.

    Raises `NoNumbersError` if there is no table, `LimitError` if more would have to be visited, with
    an estimate of their number, or if that would take too long.

    Examples
    --------
    >>> margins = [((0,), [4, 4, 4, 4]), ((1,), [4, 4, 4, 4])]
    >>> count_tables(CountConstraints.of((4, 4), margins))
    10147
    """
    split = independent_parts.split_tables(constraints)
    number = prod(_count(part, most, within, progress) for part in split.parts)
    if not number:
        raise NoNumbersError()
    return None if len(split.unbounded) else number


def list_tables(constraints: CountConstraints, *, most: int = 100_000) -> Integers:
    """Return all tables that satisfy the constraints, along the first axis, in ascending order.

    Raises `NoNumbersError` if there is none, `InputError` if there are infinitely many, `LimitError`
    if there are more than `most`.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> list_tables(known).tolist()
    [[[1, 2], [1, 0]], [[2, 1], [0, 1]]]
    """
    split = independent_parts.split_tables(constraints)
    if len(split.unbounded):
        raise InputError(
            Reason.BAD_OPTION,
            "A list of all feasible tables was asked for.",
            f"{count_of(len(split.unbounded), 'cell')} can be as large as you like, so there are "
            "infinitely many.",
            "Give an upper limit for the hidden counts or a total.",
        )
    number = prod(_count(part, most, sampling.UNLIMITED) for part in split.parts)
    if not number:
        raise NoNumbersError()
    if number > most:
        raise _too_many(f"{number:,}", most, "listed")
    return _whole(
        constraints, split, [_list(part, most, sampling.UNLIMITED) for part in split.parts]
    )


def list_part(
    part: independent_parts.TablePart, most: int, within: sampling.DrawingTime = sampling.UNLIMITED
) -> Integers:
    """Return the tables of one part, counted from the lower limits of its cells, in any order.

    Raises `LimitError` where there are more than `most`, or the search takes too many steps or too long.
    """
    _refuse_endless(part, most, within)
    return _list(part, most, within)


def _list(part: independent_parts.TablePart, most: int, within: sampling.DrawingTime) -> Integers:
    found = list(_visits(part, most, within, None, keeps=True))
    return np.concatenate([tables for _, tables in found])


def _whole(
    constraints: CountConstraints, split: independent_parts.SplitTables, lists: list[Integers]
) -> Integers:
    """Return every choice of one table per part, sorted."""
    numbers = np.arange(prod(len(tables) for tables in lists))
    whole = np.tile(split.lower, (len(numbers), 1))
    for part, tables in zip(split.parts, lists, strict=True):
        whole[:, part.cells] += tables[numbers % len(tables)]
        numbers //= len(tables)
    order = np.lexsort(whole.T[::-1])
    return whole[order].reshape(-1, *constraints.shape)


def _count(
    part: independent_parts.TablePart,
    most: int,
    within: sampling.DrawingTime,
    progress: Progress | None = None,
) -> int:
    try:
        return independent_parts.count_part(part, _LAYER_STEPS)
    except NoNumbersError:
        return 0
    except independent_parts.TooManySteps:
        pass
    _refuse_endless(part, most, within)
    return sum(number for number, _ in _visits(part, most, within, progress, keeps=False))


def _visits(
    part: independent_parts.TablePart,
    most: int,
    within: sampling.DrawingTime,
    progress: Progress | None,
    *,
    keeps: bool,
) -> Iterator[tuple[int, Integers]]:
    """Search in calls of limited length; yield how many tables each has found, and the tables."""
    from gamekeeper.algorithms.feasible.enumeration_kernels import (
        begin_search,
        limits_of,
        problem_of,
        search,
    )

    problem, limits, state = problem_of(part), limits_of(part, deep=True), begin_search(part)
    most_nodes = max(_LEAST_NODES, _NODES_PER_TABLE * most)
    per_call = max(1, min(_CALL, most + 1, 20_000_000 // part.n_cells))
    tables = np.zeros((per_call if keeps else 1, part.n_cells), np.int64)
    status = 1
    while status:
        before = int(state.numbers[1])
        status = search(problem, limits, state, tables, keeps, per_call, _CALL)
        visited, nodes = int(state.numbers[1]), int(state.numbers[2])
        if visited > most or (status and nodes > most_nodes):
            raise _too_many(f"more than {visited:,}", most, "visited one by one")
        within.require_left()
        yield visited - before, tables[: visited - before].copy()
        if progress is not None:
            progress(visited, None)


def _refuse_endless(
    part: independent_parts.TablePart, most: int, within: sampling.DrawingTime
) -> None:
    """Refuse a search whose end random draws do not see."""
    if float(np.log(part.widths + 1.0).sum()) <= np.log(most + 1.0):
        return
    within.require(part)
    log_total, relative_error = sampling.estimate_part(part, draws=_PILOT)
    # Where draws find no table, the search is given the steps that it may take.
    certain = max(1 - 2 * relative_error, 0.1)
    if np.isfinite(log_total) and log_total + np.log(certain) > np.log(most):
        number = power_text(log_total / np.log(10))
        error = f"{100 * relative_error:.0f}%" if relative_error < 1 else "large"
        raise _too_many(f"{number} (standard error {error})", most, "visited one by one")


def _too_many(number: str, most: int, done: str) -> LimitError:
    return LimitError(
        Reason.TOO_LARGE,
        f"All feasible tables were to be {done}, up to {most:,}.",
        f"There are {number}.",
        "Allow more with most (--most), or draw tables at random.",
    )


Prior = Literal["uniform", "poisson", "multinomial"]

_TABLES_PER_STEP = 20
_FITTING_ROUNDS = 100


@dataclass(frozen=True, eq=False, repr=False)
class CellPosteriors:
    """The distribution of every cell given a release.

    - `first`, `starts`, `masses`: the counts of the flat cell c, from `first[c]` up, have the
      probabilities `masses[starts[c]:starts[c + 1]]`.
    - `mean`, `p_zero`: the mean of each cell and the probability that it is 0, with standard
      errors, which are 0 where they are exact.
    - `exact`, `cell_exact`: whether no cell, or this one, had to be estimated from random tables.
    - `effective_size`: the number of independent draws that estimates rest on, at least; infinite
      without any.
    - `r_hat`: the largest potential scale reduction of walks; 1 without any.
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
    likelihoods: Sequence[Sequence[independent_parts.Likelihood | None] | None] = (),
    prior: Prior = "uniform",
    *,
    means: ArrayLike | None = None,
    seed: int = 0,
    draws: int = 10_000,
    method: sampling.SamplingMethod = "auto",
    exact_limit: int = 2_000_000,
    workers: int | None = None,
    within: sampling.DrawingTime = sampling.UNLIMITED,
    progress: Progress | None = None,
) -> CellPosteriors:
    """Return the distribution of every cell given all that is published.

    - `likelihoods`: for each margin None, or for each of its cells, flat, None or a pair: a
      smallest true sum, and for it and the following sums the probability of the published count.
      None stands for counts that say no more than their limits.
    - `prior`: "uniform": all tables are equally likely beforehand. "poisson": independent Poisson
      counts with the given means, or with those of `independence_means`. "multinomial": people fall
      into all cells with equal chances; where their number is not exact, it is Poisson around the
      sum of `independence_means`, which weighs the numbers that are possible nearly alike.
    - `means`: means of the Poisson prior, with the shape of the table.
    - `seed`, `draws`, `method`, `workers`: as in `sample_part`, for parts that have to be sampled.
    - `exact_limit`: the steps that an exact sum over one part may take; 0 to sample wherever it is
      not trivial.

    Raises `NoNumbersError` if there is no table, `InputError` if there are infinitely many under a
    uniform prior, `LimitError` if draws would take too long.

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
        weights = independent_parts.TableWeights(chosen, likelihoods)
    elif any(entries is not None for entries in likelihoods):
        weights = independent_parts.TableWeights(None, likelihoods)
    split = sampling.proper_split(constraints, weights)
    masses = [np.ones(1)] * constraints.size
    errors = np.zeros((2, constraints.size))
    exact = np.ones(constraints.size, bool)
    worst, r_hat, done = float("inf"), 1.0, 0
    n_open = sum(part.n_cells for part in split.parts)
    for number, part in enumerate(split.parts):
        found = _exact_cells(part, exact_limit, within)
        if found is None:
            sample = sampling.sample_part(
                part,
                draws=draws,
                seed=np.random.SeedSequence([seed, number]),
                method=method,
                workers=workers,
                within=within,
                start=lambda part=part: sampling.start_of_part(constraints, split, part),
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
    split = independent_parts.split_tables(constraints)
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


def _exact_cells(
    part: independent_parts.TablePart, limit: int, within: sampling.DrawingTime
) -> _Cells | None:
    """Return exact distributions of the cells of a part, or None if they take too many steps."""
    none = np.zeros(part.n_cells)
    if not part.n_rows:
        logs = part.cell_logs[0] if part.cell_logs else np.zeros(int(part.widths[0]) + 1)
        if not np.isfinite(logs.max()):
            raise NoNumbersError()
        mass = np.exp(logs - logs.max())
        return _Cells([mass / mass.sum()], none, none, exact=True)
    try:
        return _Cells(independent_parts.marginals_of_part(part, limit), none, none, exact=True)
    except independent_parts.TooManySteps:
        pass
    if not limit:
        return None
    try:
        tables = list_part(part, max(1, limit // _TABLES_PER_STEP), within)
    except LimitError:
        return None
    if not len(tables):
        raise NoNumbersError()
    logs = np.zeros(len(tables))
    for cell, own in enumerate(part.cell_logs):
        logs += own[tables[:, cell]]
    for members, least, own in zip(part.rows, part.row_lower, part.row_logs, strict=True):
        if own is not None:
            logs += own[tables[:, members].sum(axis=1) - least]
    if not np.isfinite(logs.max()):
        raise NoNumbersError()
    return _Cells(_masses(part, tables, logs), none, none, exact=True)


def _masses(part: independent_parts.TablePart, tables: Integers, logs: Floats) -> list[Floats]:
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return [
        np.bincount(tables[:, cell], weights, minlength=int(part.widths[cell]) + 1).astype(
            np.float64
        )
        for cell in range(part.n_cells)
    ]


def _sampled_cells(part: independent_parts.TablePart, sample: sampling.PartSample) -> _Cells:
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
