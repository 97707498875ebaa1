"""The feasible tables of a release as independent parts of a few open cells, and exact sums over them.

Limits are tightened row by row first. A cell whose limits meet is known and drops out; a row that
its cells satisfy in any case drops out too, and so does one that follows from smaller rows. What is
left falls into parts without a common row, and every feasible table is one choice per part.

A cell without an upper limit is in no row with one, since no cell exceeds a sum that it is part of.
So there are infinitely many tables exactly if there is such a cell and the rest has a table.

Tables can have weights: the product of a weight for each cell (a prior) and of a weight for each
known sum (the probability of what was published about it). Memory is linear in the rows.

For sums over all tables of a part, cells are taken in turn. All that the cells taken so far mean
for the rest is the sums of the rows that are begun and not finished: tables that agree in these
sums are treated as one, and where tables are only counted, so are sums of a row that can no longer
leave its limits. So a two-way table is counted column by column with the remaining row sums as
states, a table with a total is a convolution, and the same walk gives counts, marginal
distributions of cells (forwards and backwards) and independent draws. The cost is the number of
steps from states to states; it is bounded by the caller and nothing is given where it would be
exceeded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.components import connected
from gamekeeper.algorithms.linear.facts import NO_LIMIT, NoNumbersError
from gamekeeper.algorithms.linear.propagation import propagate
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

Likelihood = tuple[int, Sequence[Fraction | float]]
"""A smallest true sum, and for it and the following sums the probability of what was published."""


@dataclass(frozen=True, eq=False)
class TableWeights:
    """Weights of tables: a prior for each cell, and likelihoods of published sums.

    Means are of independent Poisson counts, in the shape of the base table; None for a weight of 1
    for every count. Each margin has one likelihood for each of its cells, flat; None where nothing
    is to be weighed. A true sum outside it has probability 0.
    """

    means: Floats | None = None
    likelihoods: Sequence[Sequence[Likelihood | None] | None] = ()


@dataclass(frozen=True, eq=False)
class TablePart:
    """Open cells that depend on each other, counted from their lower limits.

    - `cells`, `least`, `widths`: the flat cells, their lower limits, and upper less lower limits.
    - `starts`, `members`: row r holds the cells `members[starts[r]:starts[r + 1]]`, numbered within
      the part; the limits of rows are of what cells have above their lower limits.
    - `cell_logs`, `row_logs`: the log weights of each cell's counts and each row's sums, from the
      lower limit up; empty for cells, and None for a row, without weights.
    """

    cells: Integers
    least: Integers
    widths: Integers
    starts: Integers
    members: Integers
    row_lower: Integers
    row_upper: Integers
    cell_logs: tuple[Floats, ...] = ()
    row_logs: tuple[Floats | None, ...] = ()

    @property
    def n_cells(self) -> int:
        """The number of open cells."""
        return len(self.cells)

    @property
    def n_rows(self) -> int:
        """The number of rows that bind them."""
        return len(self.row_lower)

    @cached_property
    def rows(self) -> tuple[Integers, ...]:
        """The cells of each row, numbered within the part."""
        return tuple(np.split(self.members, self.starts[1:-1])) if self.n_rows else ()

    def matrix(self) -> Integers:
        """Return the rows as lines of 0 and 1."""
        made = np.zeros((self.n_rows, self.n_cells), np.int64)
        for row, members in enumerate(self.rows):
            made[row, members] = 1
        return made


@dataclass(frozen=True, eq=False)
class SplitTables:
    """All feasible tables: limits of all cells, flat, and the independent parts of open cells.

    Limits are not always tight. Flat cells without an upper limit are in no part.
    """

    lower: Integers
    upper: Integers
    parts: tuple[TablePart, ...]
    unbounded: Integers


@dataclass
class _Row:
    """A row on its way into a part."""

    members: Integers
    lower: int
    upper: int
    margin: int
    logs: Floats | None


def split_tables(
    constraints: CountConstraints,
    weights: TableWeights | None = None,
    *,
    caps: Integers | None = None,
) -> SplitTables:
    """Return the parts that the feasible tables fall into.

    Without weights every table counts the same; `caps` are upper limits for the cells that have
    none, flat. Raises `NoNumbersError` if the limits contradict each other row by row; there may be
    no table in other ways.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> [part.widths.tolist() for part in split_tables(known).parts]
    [[1, 1, 1, 1]]
    """
    lower, upper = _tightened(constraints, caps)
    unbounded = np.flatnonzero(upper >= UNBOUNDED)
    logs = _cell_logs(weights, lower, upper)
    kept = _open_rows(constraints, weights or TableWeights(), lower, upper, logs)
    kept = _without_implied(_merged(kept), len(constraints.margins))
    open_cells = np.flatnonzero((lower < upper) & (upper < UNBOUNDED))
    return SplitTables(lower, upper, _parts(open_cells, lower, upper, kept, logs), unbounded)


def _tightened(constraints: CountConstraints, caps: Integers | None) -> tuple[Integers, Integers]:
    """Return limits of the cells after propagation, with caps where there is no upper one."""
    limits = propagate(constraints.facts)
    beyond = limits.upper >= NO_LIMIT
    if caps is not None and beyond.any():
        upper = np.where(beyond, np.maximum(caps, limits.lower), limits.upper)
        limits = propagate(replace(constraints.facts, lower=limits.lower, upper=upper))
    return limits.lower, np.minimum(limits.upper, UNBOUNDED)


def _cell_logs(
    weights: TableWeights | None, lower: Integers, upper: Integers
) -> dict[int, Floats] | None:
    from scipy.special import gammaln

    if weights is None:
        return None
    logs: dict[int, Floats] = {}
    flat = None if weights.means is None else np.asarray(weights.means, np.float64).reshape(-1)
    for cell in np.flatnonzero((lower < upper) & (upper < UNBOUNDED)).tolist():
        counts = np.arange(lower[cell], upper[cell] + 1, dtype=np.float64)
        if flat is None:
            logs[cell] = np.zeros(len(counts))
        else:
            logs[cell] = counts * np.log(flat[cell]) - gammaln(counts + 1)
    return logs


def _open_rows(
    constraints: CountConstraints,
    weights: TableWeights,
    lower: Integers,
    upper: Integers,
    cell_logs: dict[int, Floats] | None,
) -> list[_Row]:
    """Return the rows over open cells that bind or weigh; single cells take their weights over."""
    rows = constraints.rows
    is_open = lower < upper
    without_limit = upper >= UNBOUNDED
    width = np.where(without_limit, 0, upper - lower)
    known, total = rows.sums(lower), rows.sums(width)
    n_open = rows.sums(is_open.astype(np.int64))
    endless = rows.sums(without_limit.astype(np.int64)) > 0
    least = np.maximum(rows.lower - known, 0)
    most = np.minimum(np.where(rows.upper >= UNBOUNDED, UNBOUNDED, rows.upper - known), total)
    binds = ((least > 0) | (most < total)) & (n_open > 1)
    weighed = np.zeros(len(rows), bool)
    for number, entries in enumerate(weights.likelihoods):
        if entries is not None:
            weighed[rows.margin == number] = [entry is not None for entry in entries]
    kept: list[_Row] = []
    for row in np.flatnonzero((binds | weighed) & ~endless).tolist():
        members = rows.cells[rows.starts[row] : rows.starts[row + 1]]
        members = members[is_open[members]]
        logs = None
        if weighed[row]:
            entries = weights.likelihoods[rows.margin[row]]
            entry = None if entries is None else entries[rows.cell[row]]
            assert entry is not None
            logs = _log_likelihood(entry, known[row] + least[row], known[row] + most[row])
            if not np.isfinite(logs).any():
                raise NoNumbersError([row])
            if len(members) == 1 and cell_logs is not None:
                cell_logs[int(members[0])] += logs
            if len(members) < 2 or bool(np.all(logs == logs[0])):
                logs = None
        if len(members) > 1 and (binds[row] or logs is not None):
            kept.append(_Row(members, int(least[row]), int(most[row]), int(rows.margin[row]), logs))
    return kept


def _log_likelihood(entry: Likelihood, low: int, high: int) -> Floats:
    """Return the log probabilities for true sums low .. high."""
    first, given = entry
    logs = np.full(int(high - low) + 1, -np.inf)
    for place in range(len(logs)):
        at = int(low) + place - int(first)
        if 0 <= at < len(given) and given[at] > 0:
            logs[place] = np.log(float(given[at]))
    return logs


def _merged(rows: list[_Row]) -> list[_Row]:
    merged: dict[bytes, _Row] = {}
    for row in rows:
        row.members = np.sort(row.members)
        same = merged.setdefault(row.members.tobytes(), row)
        if same is row:
            continue
        lower, upper = max(row.lower, same.lower), min(row.upper, same.upper)
        if lower > upper:
            raise NoNumbersError()
        logs = None
        for one in (row, same):
            if one.logs is not None:
                part = one.logs[lower - one.lower : upper - one.lower + 1]
                logs = part if logs is None else logs + part
        same.lower, same.upper, same.logs = lower, upper, logs
    return list(merged.values())


def _without_implied(rows: list[_Row], n_margins: int) -> list[_Row]:
    """Return the rows without those that are sums of smaller rows and follow from them.

    No row can go because of one that goes because of it: each is larger than those it follows from.
    """
    n_cells = 1 + max((int(row.members[-1]) for row in rows), default=0)
    place = np.full((n_margins, n_cells), -1, np.int64)
    for number, row in enumerate(rows):
        place[row.margin, row.members] = number
    lengths = np.array([len(row.members) for row in rows], np.int64)
    kept: list[_Row] = []
    for row in rows:
        implied = False
        for margin in range(n_margins if row.logs is None else 0):
            under = place[margin, row.members]
            if margin == row.margin or under.min() < 0:
                continue
            smaller, times = np.unique(under, return_counts=True)
            if len(smaller) > 1 and np.array_equal(times, lengths[smaller]):
                low = sum(rows[number].lower for number in smaller)
                high = sum(rows[number].upper for number in smaller)
                implied = implied or (low >= row.lower and high <= row.upper)
        if not implied:
            kept.append(row)
    return kept


def _parts(
    open_cells: Integers,
    lower: Integers,
    upper: Integers,
    rows: list[_Row],
    cell_logs: dict[int, Floats] | None,
) -> tuple[TablePart, ...]:
    """Return the components of the graph of cells and rows, in the order of their first cells."""
    n_cells = len(open_cells)
    if not n_cells:
        return ()
    number = np.full(len(lower), -1, np.int64)
    number[open_cells] = np.arange(n_cells)
    of_row = np.repeat(np.arange(len(rows)), [len(row.members) for row in rows])
    members = [row.members for row in rows]
    of_cell = number[np.concatenate(members)] if rows else of_row
    labels, row_labels = connected(of_row, of_cell, len(rows), n_cells)
    # Every row holds an open cell, so that every component has one.
    n_parts = int(labels.max()) + 1
    cells_of = np.split(
        open_cells[np.argsort(labels, kind="stable")],
        np.cumsum(np.bincount(labels, minlength=n_parts))[:-1],
    )
    rows_of: list[list[_Row]] = [[] for _ in range(n_parts)]
    for label, row in zip(row_labels.tolist(), rows, strict=True):
        rows_of[label].append(row)
    parts: list[TablePart] = []
    for cells, own in zip(cells_of, rows_of, strict=True):
        number[cells] = np.arange(len(cells))
        members = [number[row.members] for row in own]
        parts.append(
            TablePart(
                cells, lower[cells], upper[cells] - lower[cells],
                np.cumsum([0, *(len(one) for one in members)], dtype=np.int64),
                np.concatenate(members) if members else np.zeros(0, np.int64),
                np.array([row.lower for row in own], np.int64),
                np.array([row.upper for row in own], np.int64),
                () if cell_logs is None else tuple(cell_logs[cell] for cell in cells.tolist()),
                tuple(row.logs for row in own),
            )
        )  # fmt: skip
    return tuple(sorted(parts, key=lambda part: int(part.cells[0])))


_LARGEST_KEY = 2**62
_MOST_TERMS = 200_000
_MOST_PRODUCTS = 2_000_000_000
_MOST_KEPT = 20_000_000
_MOST_LOOKS = 5_000_000


class TooManySteps(Exception):  # noqa: N818 - an event, not a fault
    """The walk would take more steps than the caller allows."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """All steps of one cell: from a state, with a count above the lower limit, to a state."""

    cell: int
    n_sources: int
    source: Integers
    value: Integers
    target: Integers
    n_targets: int
    log_weight: Floats | None


def count_part(part: TablePart, most_steps: int) -> int:
    """Return the number of tables of a part, whatever their weights."""
    if part.n_rows <= 1:
        low = int(part.row_lower[0]) if part.n_rows else 0
        high = int(part.row_upper[0]) if part.n_rows else int(part.widths.sum())
        found = _count_one_sum(part.widths.tolist(), low, high)
        if found is not None:
            return found
    # A number that fits a machine word is added up many times faster.
    fits = float(np.log2(part.widths + 1.0).sum()) < 62
    ways = np.ones(1, np.int64 if fits else object)
    for layer in _layers(part, most_steps, counting=True):
        after = np.zeros(layer.n_targets, ways.dtype)
        np.add.at(after, layer.target, ways[layer.source])
        ways = after
    return int(ways[0])


def marginals_of_part(part: TablePart, most_steps: int) -> list[Floats]:
    """Return for each cell the probabilities of its counts, from the lower limit up."""
    if part.n_rows == 1:
        found = _marginals_of_one_sum(part)
        if found is not None:
            return found
    layers = list(_layers(part, most_steps, counting=False))
    forwards = [np.zeros(1)]
    for layer in layers:
        into = forwards[-1][layer.source]
        forwards.append(_log_sums(_weighed(into, layer), layer.target, layer.n_targets))
    if not np.isfinite(forwards[-1][0]):
        raise NoNumbersError()
    marginals = [np.zeros(0)] * part.n_cells
    behind = np.zeros(1)
    for layer, before in zip(reversed(layers), reversed(forwards[:-1]), strict=True):
        through = _weighed(behind[layer.target], layer)
        joint = through + before[layer.source]
        n_values = int(part.widths[layer.cell]) + 1
        logs = _log_sums(joint, layer.value, n_values)
        masses = np.exp(logs - logs.max())
        marginals[layer.cell] = masses / masses.sum()
        behind = _log_sums(through, layer.source, len(before))
    return marginals


def draw_part(
    part: TablePart, most_steps: int, draws: int, rng: np.random.Generator
) -> tuple[Integers, float]:
    """Return independent tables of a part, counted from the lower limits, and the log of all weight."""
    layers = list(_layers(part, most_steps, counting=False))
    behind = [np.zeros(1)]
    for layer in reversed(layers):
        through = _weighed(behind[-1][layer.target], layer)
        behind.append(_log_sums(through, layer.source, layer.n_sources))
    behind.reverse()
    if not np.isfinite(behind[0][0]):
        raise NoNumbersError()
    tables = np.zeros((draws, part.n_cells), np.int64)
    states = np.zeros(draws, np.int64)
    for layer, after in zip(layers, behind[1:], strict=True):
        logs = _weighed(after[layer.target], layer)
        order = np.argsort(layer.source, kind="stable")
        sources = layer.source[order]
        top = np.full(int(sources[-1]) + 1, -np.inf)
        np.maximum.at(top, sources, logs[order])
        top[~np.isfinite(top)] = 0.0
        starts = np.searchsorted(sources, np.arange(len(top) + 1))
        reached = np.cumsum(np.exp(logs[order] - top[sources]))
        base = np.concatenate([[0.0], reached])[starts]
        # One running sum serves all states, so a draw must not be carried over the end of its own.
        aim = base[states] + rng.random(draws) * (base[states + 1] - base[states])
        chosen = np.searchsorted(reached, aim, side="right")
        chosen = np.clip(chosen, starts[states], starts[states + 1] - 1)
        step = order[chosen]
        tables[:, layer.cell] = layer.value[step]
        states = layer.target[step]
    return tables, float(behind[0][0])


def _marginals_of_one_sum(part: TablePart) -> list[Floats] | None:
    """Return the marginals of cells with one known sum, by convolution; None if it is too much work.

    The cells are tilted so that the known sum is a likely one, and the tilt is taken back at the
    end: otherwise the sum could be so unlikely that nothing is left of it.
    """
    low, high = int(part.row_lower[0]), int(part.row_upper[0])
    n, longest = part.n_cells, int(part.widths.max()) + 1
    if n * (high + 1) * longest > _MOST_PRODUCTS or n * (high + 1) > _MOST_KEPT:
        return None
    logs = np.full((n, longest), -np.inf)
    for cell, width in enumerate(part.widths.tolist()):
        logs[cell, : width + 1] = part.cell_logs[cell] if part.cell_logs else 0.0
    tilt = _tilt(logs, low, high)
    logs = logs + tilt * np.arange(longest)
    laws = np.exp(logs - logs.max(axis=1, keepdims=True))
    laws /= laws.sum(axis=1, keepdims=True)
    own = part.row_logs[0]
    ends = -tilt * np.arange(low, high + 1) + (0.0 if own is None else own)
    behind = np.zeros(high + 1)
    behind[low:] = np.exp(ends - ends.max())
    forwards: list[Floats] = [np.ones(1)]
    for law, width in zip(laws, part.widths.tolist(), strict=True):
        joined = np.convolve(forwards[-1], law[: width + 1])[: high + 1]
        forwards.append(joined.astype(np.float64))
    marginals = [np.zeros(0)] * n
    for cell in range(n - 1, -1, -1):
        law = laws[cell, : int(part.widths[cell]) + 1]
        before = forwards[cell]
        padded = np.concatenate([behind, np.zeros(len(law) + len(before))])
        windows = np.lib.stride_tricks.sliding_window_view(padded, len(before))[: len(law)]
        mass = law * (windows @ before)
        if mass.sum() <= 0:
            return None
        marginals[cell] = mass / mass.sum()
        behind = np.correlate(padded, law, "valid")[: len(behind)]
        behind /= behind.max()
    return marginals


def _tilt(logs: Floats, low: int, high: int) -> float:
    """Return the exponential tilt that brings the expected sum of the cells within low .. high."""
    values = np.arange(logs.shape[1])

    def expected(tilt: float) -> float:
        tilted = logs + tilt * values
        laws = np.exp(tilted - tilted.max(axis=1, keepdims=True))
        return float((laws @ values / laws.sum(axis=1)).sum())

    if low <= expected(0.0) <= high:
        return 0.0
    left, right, aim = -60.0, 60.0, (low if expected(0.0) < low else high)
    for _ in range(60):
        middle = (left + right) / 2
        left, right = (middle, right) if expected(middle) < aim else (left, middle)
    return (left + right) / 2


def _weighed(logs: Floats, layer: _Layer) -> Floats:
    return logs if layer.log_weight is None else logs + layer.log_weight


def _log_sums(logs: Floats, at: Integers, n: int) -> Floats:
    """Return the logs of the sums of what is at each of n places."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, at, logs)
    finite = np.where(np.isfinite(top), top, 0.0)
    sums = np.bincount(at, np.exp(logs - finite[at]), minlength=n)
    with np.errstate(divide="ignore"):
        return np.log(sums) + finite


def _count_one_sum(widths: list[int], low: int, high: int) -> int | None:
    """Return how many counts 0 .. widths have a sum of low .. high; None if it is too much work.

    The generating function is the product of (1 - z^(w+1)) / (1 - z): few terms if there are few
    cells or few different widths, and then sums of binomial coefficients.
    """
    terms = {0: 1}
    for width in widths:
        for power, times in list(terms.items()):
            if power + width + 1 <= high:
                terms[power + width + 1] = terms.get(power + width + 1, 0) - times
        terms = {power: times for power, times in terms.items() if times}
        if len(terms) > _MOST_TERMS:
            return None
    k = len(widths)

    def up_to(most: int) -> int:
        return sum(
            times * comb(most - power + k, k) for power, times in terms.items() if power <= most
        )

    return up_to(high) - up_to(low - 1)


def _layers(part: TablePart, most_steps: int, *, counting: bool) -> Iterator[_Layer]:
    """Take the cells in turn; states are numbered anew in each layer."""
    rows_of: list[list[int]] = [[] for _ in range(part.n_cells)]
    for row, members in enumerate(part.rows):
        for cell in members.tolist():
            rows_of[cell].append(row)
    ahead = [int(part.widths[members].sum()) for members in part.rows]
    left = [len(members) for members in part.rows]
    begun: list[int] = []
    sums = np.zeros((1, 0), np.int64)
    n_steps = 0
    for cell in _order(part, rows_of):
        width = int(part.widths[cell])
        for row in rows_of[cell]:
            if row not in begun:
                begun.append(row)
                sums = np.column_stack([sums, np.zeros(len(sums), np.int64)])
            ahead[row] -= width
            left[row] -= 1
        least = np.zeros(len(sums), np.int64)
        most = np.full(len(sums), width, np.int64)
        for row in rows_of[cell]:
            so_far = sums[:, begun.index(row)]
            np.maximum(least, part.row_lower[row] - ahead[row] - so_far, out=least)
            np.minimum(most, part.row_upper[row] - so_far, out=most)
        n_values = np.maximum(most - least + 1, 0)
        n_steps += int(n_values.sum())
        if n_steps > most_steps:
            raise TooManySteps
        source = np.repeat(np.arange(len(sums)), n_values)
        if not len(source):
            raise NoNumbersError()
        first = np.cumsum(n_values) - n_values
        value = least[source] + np.arange(len(source)) - first[source]
        after = sums[source]
        log_weight = part.cell_logs[cell][value] if part.cell_logs and not counting else None
        for row in rows_of[cell]:
            place = begun.index(row)
            after[:, place] += value
            logs = part.row_logs[row] if part.row_logs and not counting else None
            if left[row] == 0 and logs is not None:
                weights = logs[after[:, place] - part.row_lower[row]]
                log_weight = weights if log_weight is None else log_weight + weights
        unfinished = [place for place, row in enumerate(begun) if left[row]]
        begun = [begun[place] for place in unfinished]
        after = after[:, unfinished]
        for place, row in enumerate(begun):
            if counting or not part.row_logs or part.row_logs[row] is None:
                low = max(int(part.row_lower[row]), 0)
                safe = (after[:, place] >= low) & (
                    after[:, place] + ahead[row] <= part.row_upper[row]
                )
                after[safe, place] = low
        first_with, target = _numbered(after)
        yield _Layer(cell, len(sums), source, value, target, len(first_with), log_weight)
        sums = after[first_with]


def _numbered(states: Integers) -> tuple[Integers, Integers]:
    """Return the first place of each different state, and the number of each state."""
    keys = np.zeros(len(states), np.int64)
    size = 1
    for column in states.T:
        low, high = int(column.min()), int(column.max())
        size *= high - low + 1
        if size > _LARGEST_KEY:
            raise TooManySteps
        keys = keys * (high - low + 1) + (column - low)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first, number


def _order(part: TablePart, rows_of: list[list[int]]) -> Iterator[int]:
    """Yield the cells in an order that keeps few rows unfinished, found greedily.

    The row with the fewest cells left is finished first; of its cells the one is taken that begins
    the least of other rows. They are found as they are needed: most walks that are too long end
    after few cells, and to put all cells of a large part in order takes long itself.
    """
    sizes = np.log(np.minimum(part.row_upper, 2**40) + 2.0).tolist()
    left: list[int] = np.diff(part.starts).tolist()
    begun: set[int] = set()
    waiting = [set[int](members.tolist()) for members in part.rows]
    lone = [cell for cell in range(part.n_cells) if not rows_of[cell]]
    n_looks = 0

    def cost(cell: int) -> tuple[float, int]:
        opened = sum(sizes[row] for row in rows_of[cell] if row not in begun and left[row] > 1)
        closed = sum(sizes[row] for row in rows_of[cell] if row in begun and left[row] == 1)
        return opened - closed, cell

    yield from lone
    for _ in range(part.n_cells - len(lone)):
        candidates = begun or {row for row in range(part.n_rows) if left[row]}
        row = min(candidates, key=lambda row: (left[row], row))
        n_looks += len(waiting[row])
        if n_looks > _MOST_LOOKS:
            raise TooManySteps
        cell = min(waiting[row], key=cost)
        yield cell
        for row in rows_of[cell]:
            waiting[row].discard(cell)
            left[row] -= 1
            begun.add(row)
            if not left[row]:
                begun.discard(row)
