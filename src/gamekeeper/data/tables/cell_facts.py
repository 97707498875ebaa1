"""What published tables say about their hidden cells, as linear facts in whole numbers.

Figures with decimals are scaled by a power of ten. What is published is a constant, so that only
hidden and unpublished cells are numbers; a sum of published cells must agree. A published percentage,
mean or ratio was rounded to the digits that are written, and is a fact as well.

Where figures were rounded one by one, none of them is a constant: what it stands for lies within the
tolerance, is the same in every sum that it is part of, and all sums hold exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import NO_LIMIT, LinearFacts
from gamekeeper.data.reading.columns import Limits
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.hierarchy import ASKED, scale_of
from gamekeeper.data.tables.subtotals import AssumedDisjoint, could_be_sums
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, digits_text

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PublishedShare:
    """A percentage, ratio or mean that a fact is from.

    - `name`, `value`: its column, and what is published.
    - `cell`: the cell that it is published of.
    - `whole`: the cell that it is a share of; None for a mean.
    - `count`: how many a mean is over.
    """

    name: str
    value: Fraction
    cell: int
    whole: int | None = None
    count: Fraction | None = None


Row = tuple[dict[int, int], int, int]


def published_shares(
    tables: TableSet, number: Integers, values: Integers, scale: int
) -> tuple[list[tuple[Row, PublishedShare]], int]:
    """Return percentages, ratios and means as rows, and how many of them could not be used.

    A hundred times the part lies within the rounded percentage of the whole; the sum within the rounded
    mean times the count.
    """
    rows = [*_shares(tables, number, values), *_means(tables, number, values, scale)]
    untold = sum(
        value is not None and (table.counts is None or table.counts[at] is None)
        for table in tables.tables
        for mean in table.means
        for at, value in enumerate(mean.values)
    )
    wanted = [(row, told) for row, told in rows if row[0]]
    # Numbers that do not fit 64 bits are not used, and that is told.
    fitting = [
        (row, told)
        for row, told in wanted
        if max(abs(row[1]), abs(row[2]), *map(abs, row[0].values())) <= NO_LIMIT
    ]
    return fitting, untold + len(wanted) - len(fitting)


def _shares(
    tables: TableSet, number: Integers, values: Integers
) -> Iterator[tuple[Row, PublishedShare]]:
    if not any(table.shares for table in tables.tables):
        return
    keys = {tuple(nodes): cell for cell, nodes in enumerate(tables.system.nodes.tolist())}
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        for share in table.shares:
            for cell, value, digits in zip(own.tolist(), share.values, share.digits, strict=True):
                if value is None:
                    continue
                nodes = tables.system.nodes[cell].tolist()
                for at, name in enumerate(tables.axes):
                    axis, label = tables.system.axes[at], share.label_of(name)
                    if label is not None:
                        nodes[at] = axis.number[label] if label else axis.total
                whole = keys[tuple(nodes)]
                told = PublishedShare(share.name, value, cell, whole)
                part, of = (_term(one, number, values) for one in (cell, whole))
                for row in share_rows(part, of, value, digits, share.times):
                    yield row, told


def _means(
    tables: TableSet, number: Integers, values: Integers, scale: int
) -> Iterator[tuple[Row, PublishedShare]]:
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        counts = table.counts or [None] * len(table)
        for mean in table.means:
            for cell, value, digits, count in zip(
                own.tolist(), mean.values, mean.digits, counts, strict=True
            ):
                if value is None or count is None:
                    continue
                half = Fraction(1, 2 * 10**digits)
                numbers, known = _term(cell, number, values)
                ends = [(value + off) * count * scale for off in (-half, half)]
                times = math.lcm(*(end.denominator for end in ends))
                low, high = (int(end * times) - known * times for end in ends)
                row = {one: factor * times for one, factor in numbers.items()}
                yield (row, low, high), PublishedShare(mean.name, value, cell, count=count)


Term = tuple[dict[int, int], int]
"""Numbers with their factors, and a constant."""


def share_rows(part: Term, whole: Term, value: Fraction, digits: int, times: int) -> list[Row]:
    """Return the rows that say that a part is a rounded share of a whole.

    Rounding to d digits leaves half a unit on both sides, ends among them.

    >>> share_rows(({0: 1}, 0), ({1: 1}, 0), Fraction(8), 0, 100)
    [({0: 40, 1: -3}, 0, 4611686018427387904), ({0: 200, 1: -17}, -4611686018427387904, 0)]
    """
    unit = 2 * 10**digits
    rows: list[Row] = []
    for is_upper in (False, True):
        edge = value * unit + (1 if is_upper else -1)
        factors = (unit * times * edge.denominator, -edge.numerator)
        own: dict[int, int] = {}
        constant = 0
        for (numbers, known), factor in zip((part, whole), factors, strict=True):
            constant += factor * known
            for number, count in numbers.items():
                own[number] = own.get(number, 0) + factor * count
        own = {number: factor for number, factor in own.items() if factor}
        shared = math.gcd(constant, *own.values()) or 1
        own = {number: factor // shared for number, factor in own.items()}
        limit = -constant // shared
        rows.append((own, -NO_LIMIT, limit) if is_upper else (own, limit, NO_LIMIT))
    return rows


def _term(cell: int, number: Integers, values: Integers) -> Term:
    at = int(number[cell])
    return ({at: 1}, 0) if at >= 0 else ({}, int(values[cell]))


Floats = NDArray[np.float64]
Says = Mapping[str, tuple[int, int | None]]
"""For statuses as they are written, the least and the largest count that they tell of."""

MOST_DECIMALS = 6
_MOST = 2**50


@dataclass(frozen=True, eq=False, repr=False)
class CellFacts:
    """Facts about the open cells of published tables.

    - `facts`: the facts, each number an open cell.
    - `cells`: the cell of each number.
    - `number`: the number of each cell; -1 where it is known.
    - `values`: what each cell that is known holds, scaled.
    - `equations`: the equation that each row is from; -1 for a percentage, ratio or mean.
    - `wanted`: the numbers of the hidden cells.
    - `shares`: what the last rows are from, each a published percentage, ratio or mean.
    - `is_published`: whether a figure of each cell is published, exact or rounded.
    - `tolerance`: by how much a published figure may be off.
    - `is_signed`: whether figures may be below 0.
    """

    facts: LinearFacts
    cells: Integers
    number: Integers
    values: Integers
    equations: Integers
    wanted: Integers
    shares: tuple[PublishedShare, ...]
    scale: int
    is_published: NDArray[np.bool_]
    tolerance: Fraction
    is_signed: bool
    notices: tuple[str, ...] = ()

    def share(self, row: int) -> PublishedShare | None:
        """Return the percentage, ratio or mean that a row is from; None for a sum."""
        at = row - (len(self.equations) - len(self.shares))
        return self.shares[at] if at >= 0 else None


def cell_facts(
    tables: TableSet,
    *,
    tolerance: Fraction | None = None,
    negative: bool = False,
    says: Says | None = None,
) -> CellFacts:
    """Return what published tables say about their open cells.

    - `tolerance`: how far a published figure may be off by rounding; sums are checked with it.
    - `negative`: whether figures may be below 0.
    - `says`: what a status tells of a count, where the status is published too.
    - raises `InputError`: sums of published figures do not add up.

    >>> from gamekeeper.data.tables.cell_file import CellRows
    >>> rows = [["Total", 18], ["South", None], ["North", 9], ["East", 7]]
    >>> made = cell_facts(TableSet.of([CellRows.typed(["area"], rows)]))
    >>> made.facts.row(0), int(made.facts.low[0])
    ({0: -1}, -2)
    """
    if tolerance and tables.perturbed:
        raise InputError(
            Reason.BAD_OPTION,
            ASKED,
            "Their figures are under a scheme (--scheme), and were said to be off by some tolerance as well"
            " (--tolerance).",
            "Give one of them: the scheme says how far a figure may be off.",
        )
    known, notices = _known(tables)
    told_apart = [
        *(read for table in tables.tables for read in table.limits.values()),
        *tables.perturbed.values(),
    ]
    ends = [end for own in told_apart for end in (own.low, own.high) if end is not None]
    scale, values, dust = _scaled(known, [tolerance or Fraction(0), *ends], whole=tables.whole)
    allowed = max(Fraction(0) if tolerance is None else tolerance, dust)
    below = (
        negative
        or bool((values < 0).any())
        or any(truth is not None and truth < 0 for truth in tables.truths)
    )
    if below and not negative:
        notices = (*notices, "Some figures are below 0, so that hidden ones may be.")
    is_published = np.array([figure is not None for figure in known], bool)
    # A cell that nobody is in is empty, however figures were rounded.
    is_empty = np.array([one is None for one in tables.figures]) & is_published
    is_known = is_published if not tolerance else is_empty
    number = np.where(is_known, -1, np.cumsum(~is_known) - 1)
    cells = np.flatnonzero(~is_known)
    system = tables.system
    starts, parts = system.starts, system.parts
    signs = np.full(len(parts), -1, np.int64)
    signs[starts[:-1]] = 1
    of = np.repeat(np.arange(system.n_equations), np.diff(starts))
    constant = np.zeros(system.n_equations, np.int64)
    np.add.at(constant, of, np.where(is_known[parts], signs * values[parts], 0))
    n_open = np.bincount(of, ~is_known[parts], minlength=system.n_equations).astype(np.int64)
    n_published = np.bincount(of, is_published[parts], minlength=system.n_equations)
    room = math.ceil(allowed * scale) * n_published.astype(np.int64)
    checked = np.flatnonzero(n_published == np.diff(starts))
    missed = np.zeros(system.n_equations, np.int64)
    np.add.at(missed, of, np.where(is_published[parts], signs * values[parts], 0))
    _require_sums(tables, checked, missed, room, scale)
    slack = np.zeros_like(room) if tolerance else room
    # Short sums first: of several that tell the same, the first is told.
    rows = np.flatnonzero(n_open > 0)
    rows = rows[np.argsort(np.diff(starts)[rows], kind="stable")]
    place = np.full(system.n_equations, -1, np.int64)
    place[rows] = np.arange(len(rows))
    kept = np.flatnonzero(~is_known[parts] & (n_open > 0)[of])
    kept = kept[np.argsort(place[of[kept]], kind="stable")]
    limits = _limits(tables, cells, scale, number, below=below, says=says or {})
    if tolerance:
        off = (tolerance + dust) * scale
        _round(limits, is_published[cells], values[cells], off, whole=tables.whole and not dust)
    told, unused = published_shares(tables, number, values, scale)
    if tables.perturbed:
        # Of true figures, or of published ones: nobody knows.
        told, unused = [], unused + len(told)
    more = [row for row, _ in told]
    lengths = _followed(n_open[rows], [len(own) for own, _, _ in more])
    facts = LinearFacts(
        *limits,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        _followed(number[parts[kept]], [m for own, _, _ in more for m in own]),
        _followed(signs[kept], [f for own, _, _ in more for f in own.values()]),
        _followed(-constant[rows] - slack[rows], [low for _, low, _ in more]),
        _followed(-constant[rows] + slack[rows], [high for _, _, high in more]),
        tables.whole and not dust,
        scale,
    )
    hidden = tables.hidden[number[tables.hidden] >= 0]
    if unused:
        notices = (
            *notices,
            f"{count_of(unused, 'percentage or mean', 'percentages or means')} could not be used.",
        )
    return CellFacts(
        facts, cells, number, values,
        _followed(rows, [-1] * len(more)),
        number[hidden], tuple(share for _, share in told), scale,
        is_published, tolerance or Fraction(0), below, notices,
    )  # fmt: skip


def assumed_of_tables(tables: TableSet, known: CellFacts) -> tuple[AssumedDisjoint, ...]:
    """Return the axes on which labels could be sums of others, and nobody said that none is."""
    if not len(tables.hidden):
        return ()
    least = -np.inf if known.is_signed else 0.0
    lower, upper = known.values.astype(float), known.values.astype(float)
    for own, limits, endless in (
        (lower, known.facts.lower, -np.inf),
        (upper, known.facts.upper, np.inf),
    ):
        own[known.cells] = np.where(np.abs(limits) >= NO_LIMIT, endless, limits)
    found: list[AssumedDisjoint] = []
    for name, sets in tables.assumed.items():
        at = tables.axes.index(name)
        low, high, totals = _lines_of(tables, at, lower, upper, least)
        number = tables.system.axes[at].number
        for labels in sets:
            nodes = [number[label] for label in labels]
            made = could_be_sums(Axis(name, labels), low[:, nodes], high[:, nodes], totals)
            if made is not None:
                found.append(made)
                break
    return tuple(found)


def _lines_of(
    tables: TableSet, at: int, lower: Floats, upper: Floats, least: float
) -> tuple[Floats, Floats, Floats]:
    """Return the limits of each label of an axis in each line across it, and the least of each total.

    Where nothing is below 0, a cell is no larger than what it is part of on the other axes.
    """
    system = tables.system
    others = np.delete(system.nodes, at, axis=1)
    keys, line = np.unique(others, axis=0, return_inverse=True)
    line = line.reshape(-1)
    low = np.full((len(keys), len(system.axes[at])), least)
    high = np.full(low.shape, np.inf)
    low[line, system.nodes[:, at]], high[line, system.nodes[:, at]] = lower, upper
    if least == 0:
        place = {tuple(key): number for number, key in enumerate(keys.tolist())}
        totals = [axis.total for number, axis in enumerate(system.axes) if number != at]
        for column, total in enumerate(totals):
            over = [
                place.get((*key[:column], total, *key[column + 1 :]), number)
                for key, number in place.items()
            ]
            high = np.minimum(high, high[over])
    return low, high, low[:, system.axes[at].total]


def _followed(first: Integers, more: Sequence[int]) -> Integers:
    return np.concatenate([first, np.array(more, np.int64)])


def _known(tables: TableSet) -> tuple[list[Fraction | None], tuple[str, ...]]:
    """Return the figure of each cell that is known; of absent ones, 0 where that is said."""
    known = list(tables.figures)
    zeros = tables.absent_zeros
    for cell in zeros:
        if cell not in tables.perturbed:
            known[cell] = Fraction(0)
    if not zeros:
        return known, ()
    said = f"{count_of(len(zeros), 'cell without a row is', 'cells without a row are')} taken as 0."
    return known, (said,)


def _scaled(
    known: Sequence[Fraction | None], others: Sequence[Fraction], *, whole: bool
) -> tuple[int, Integers, Fraction]:
    """Return the scale, the figures as whole numbers, and by how much that may be off."""
    figures = [figure for figure in known if figure is not None]
    scale = scale_of([*figures, *others], 0 if whole else MOST_DECIMALS)
    largest = max((abs(figure) for figure in figures), default=Fraction(0))
    while scale > 1 and largest * scale >= _MOST:
        scale //= 10
    if largest * scale >= _MOST:
        raise InputError(
            Reason.TOO_LARGE,
            ASKED,
            f"A figure is larger than {_MOST:,}.",
            "Give figures in thousands or millions.",
        )
    is_exact = all((figure * scale).denominator == 1 for figure in figures)
    values = np.array(
        [0 if figure is None else round(figure * scale) for figure in known], np.int64
    )
    return scale, values, Fraction(0) if is_exact else Fraction(1, scale)


def _require_sums(
    tables: TableSet, checked: Integers, constant: Integers, slack: Integers, scale: int
) -> None:
    missed = np.abs(constant[checked])
    wrong = checked[missed > slack[checked]]
    if not len(wrong):
        return
    worst = int(missed.max()) / scale
    order = wrong[np.argsort(-np.abs(constant[wrong]), kind="stable")]
    shown = tables.some_words(tables.system.parts[tables.system.starts[order]].tolist())
    lengths = np.diff(tables.system.starts)[wrong]
    needed = max(
        Fraction(int(abs(constant[e])), scale * int(n))
        for e, n in zip(wrong.tolist(), lengths.tolist(), strict=True)
    )
    raise InputError(
        Reason.CONFLICTING_COUNTS,
        ASKED,
        f"{count_of(len(wrong), 'sum does', 'sums do')} not add up, by up to {digits_text(worst)}.",
        "Mend the figures or the hierarchy. If they were rounded one by one, say how far each may be off:"
        f" --tolerance {_upward(needed)}.",
        problems=[
            Problem(
                Reason.CONFLICTING_COUNTS, "sums", f"these are not the sum of their parts: {shown}."
            )
        ],
    )


def _upward(needed: Fraction) -> str:
    """Return a number of few digits that is at least some other."""
    digits = 0
    while digits < 12 and needed * 10**digits < 10:
        digits += 1
    return digits_text(math.ceil(needed * 10**digits) / 10**digits).replace(",", "")


def _round(
    limits: tuple[Integers, Integers],
    rounded: NDArray[np.bool_],
    values: Integers,
    tolerance: Fraction,
    *,
    whole: bool,
) -> None:
    """Limit what rounded figures stand for; of whole numbers, to those within the tolerance."""
    off = math.floor(tolerance) if whole else math.ceil(tolerance)
    lower, upper = limits
    lower[rounded] = np.maximum(lower[rounded], values[rounded] - off)
    upper[rounded] = np.minimum(upper[rounded], values[rounded] + off)


def _scaled_limits(read: Limits, scale: int, *, whole: bool) -> tuple[int | None, int | None]:
    """Return limits as scaled whole numbers; an end that is no possible figure is one all the same."""
    if whole:
        low, high = read.of_whole()
        return None if low is None else low * scale, None if high is None else high * scale
    return (
        None if read.low is None else math.floor(read.low * scale),
        None if read.high is None else math.ceil(read.high * scale),
    )


def _limits(
    tables: TableSet, cells: Integers, scale: int, number: Integers, *, below: bool, says: Says
) -> tuple[Integers, Integers]:
    lower = np.full(len(cells), -NO_LIMIT if below else 0, np.int64)
    upper = np.full(len(cells), NO_LIMIT, np.int64)

    def limit(cell: int, low: int | None, high: int | None) -> None:
        at = number[cell]
        if at >= 0:
            lower[at] = lower[at] if low is None else max(int(lower[at]), low)
            upper[at] = upper[at] if high is None else min(int(upper[at]), high)

    for cell, one in tables.perturbed.items():
        high = None if one.high is None else math.ceil(one.high * scale)
        limit(cell, math.floor(one.low * scale), high)
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        every = table.printed or [""] * len(table)
        rows = zip(own.tolist(), table.marks, every, table.statuses, strict=True)
        for cell, mark, printed, status in rows:
            texts = {printed}
            if status.is_hidden:
                texts.add(mark)
                told = [says[own] for own in {mark.strip(), printed.strip()} if own in says]
                told += [] if table.hidden_limits is None else [table.hidden_limits]
                for low, high in told:
                    limit(cell, low * scale, None if high is None else high * scale)
            # What is printed is read by everybody, whatever became of the cell.
            for text in texts & table.limits.keys():
                limit(cell, *_scaled_limits(table.limits[text], scale, whole=tables.whole))
    return lower, upper
