"""Exact sums over all feasible tables of a part, cell by cell.

Cells are taken in turn. All that the cells taken so far mean for the rest is the sums of the rows
that are begun and not finished: tables that agree in these sums are treated as one. So a two-way
table is counted column by column with the remaining row sums as states, a table with a total is a
convolution, and the same walk gives counts, marginal distributions of cells (forwards and
backwards) and independent draws. The cost is the number of steps from states to states; it is
bounded by the caller and nothing is given where it would be exceeded.

Where tables are only counted, sums of a row that can no longer leave its limits are one state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.feasible.independent_parts import TablePart
from gamekeeper.algorithms.releases.constraints import NoTableError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

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
        raise NoTableError()
    marginals = [np.zeros(0)] * part.n_cells
    behind = np.zeros(1)
    for layer, before in zip(reversed(layers), reversed(forwards[:-1]), strict=True):
        through = _weighed(behind[layer.target], layer)
        joint = through + before[layer.source]
        n_values = int(part.widths[layer.cell]) + 1
        logs = _log_sums(joint, layer.value, n_values)
        marginals[layer.cell] = _normalised(logs)
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
        raise NoTableError()
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


def _normalised(logs: Floats) -> Floats:
    masses = np.exp(logs - logs.max())
    return masses / masses.sum()


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
            raise NoTableError()
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
