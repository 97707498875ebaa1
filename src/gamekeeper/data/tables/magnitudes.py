"""Sums of a response by axes, and who adds how much to their cells: from records, or as tables tell.

Contributions of one holding are added up before anything is compared. A record of weight w stands for
w units of its size; a holding, whose records may have different weights, is one unit of what they
stand for together. Sums are exact: values and weights, to six decimals, are whole numbers after scaling.

Records name their contributor, a unit or the holding that it belongs to, so that one who is in several
cells is one. Tables tell how many contribute to a cell and what the largest are; then those of different
cells are taken for different ones, and each adds to whatever holds its cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.cell_system import AxisNodes, axis_nodes
from gamekeeper.algorithms.releases.primary_rules import Contributions
from gamekeeper.budget import require_memory
from gamekeeper.data.reading.columns import number_of
from gamekeeper.data.reading.source import Source
from gamekeeper.data.tables.axes import raise_all
from gamekeeper.data.tables.cell_file import CellRows, without_dust
from gamekeeper.data.tables.count_file import records_words, text_columns
from gamekeeper.data.tables.hierarchy import Hierarchy, scale_of
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, duration_text, quoted

Integers = NDArray[np.int64]

_MOST_PAIRS = 200_000_000
# Measured, of a record and a cell that it adds to.
_SECONDS_OF_PAIR, _BYTES_OF_PAIR = 1.4e-6, 120
_MOST = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class MagnitudeTable:
    """Sums of a response by axes with subtotals, with what the rules need to know of each cell.

    - `name`: the file that it was counted from.
    - `labels`: for each axis the label of each cell.
    - `figures`: the sum of each cell; the number of units where no response was named.
    - `cells`: the largest contributions to each cell, and what is left.
    - `totals`: what the whole of each axis is called.
    - `shadows`: the sum of the shadow variable in each cell, where the rules look at one.
    - `is_count`: whether units were counted, and nothing was added up.
    """

    MADE_BY: ClassVar[str] = "gk.tables.tabulate_magnitudes(gk.open_source(path), axes, value)"

    name: str
    axes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    figures: tuple[Fraction, ...]
    cells: tuple[Contributions, ...]
    n_records: int
    fingerprint: str
    totals: tuple[str, ...] = ()
    shadows: tuple[Fraction, ...] = ()
    is_count: bool = False

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"MagnitudeTable({len(self):,} cells by {quoted(self.axes)})"


def tabulate_magnitudes(
    source: Source,
    axes: Sequence[str],
    value: str = "",
    *,
    weight: str = "",
    holding: str = "",
    request: str = "",
    shadow: str = "",
    hierarchies: Mapping[str, Hierarchy] | None = None,
    total: str = "Total",
    most: int = 3,
) -> MagnitudeTable:
    """Add up a response by axes, with every subtotal and total; records are one per unit.

    Parameters
    ----------
    value
        The response; without one, units are counted.
    weight, holding, request
        The weight of each record, to which holding it belongs, and whether it asked for protection.
    shadow
        The variable whose contributions the rules look at, instead of those to the response.
    hierarchies
        For axes with subtotals, which category is the sum of which.
    total
        What the whole of an axis is called.
    most
        How many of the largest contributions are kept.
    """
    asked = f"A table of sums was to be made of {source.words}."
    if not axes:
        raise InputError(
            Reason.NOTHING_GIVEN, asked, "It is not said by which columns.", "Name the axes."
        )
    wanted = [*axes, *filter(None, (value, weight, holding, request, shadow))]
    source.check_names(wanted)

    def require(n_records: int) -> None:
        # Each record adds to its own category and to the whole of each axis, whatever it is.
        _require_pairs(n_records, n_records * 2 ** len(set(axes)), asked, least="at least ")

    texts = text_columns(source, wanted, asked, require=require)
    n = len(texts[wanted[0]])
    problems: list[Problem] = []
    values, scale = _numbers(texts, value, source.decimal, problems, n)
    weights, weight_scale = _numbers(texts, weight, source.decimal, problems, n)
    looked_at, looked_scale = (
        _numbers(texts, shadow, source.decimal, problems, n) if shadow else (values, scale)
    )
    given = dict(hierarchies or {})
    nodes = [_nodes(texts[name], name, given.get(name), total, problems) for name in axes]
    raise_all(asked, problems)
    owners = _codes(texts[holding])[0] if holding else np.arange(n)
    asks = np.zeros(n, bool)
    if request:
        asks = np.array(
            [text.casefold() not in ("", "0", "no", "false", "n") for text in texts[request]]
        )
    keys, records = _spread(nodes, n, asked)
    return _table(
        source, tuple(axes), nodes, keys, records, looked_at, weights, owners, asks,
        scale=looked_scale, weight_scale=weight_scale, has_holdings=bool(holding), most=most,
        published=(values, scale) if shadow else None, is_count=not value,
    )  # fmt: skip


def _codes(texts: Sequence[str]) -> tuple[Integers, list[str]]:
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(text, len(known)) for text in texts], np.int64)
    return codes, list(known)


def _numbers(
    texts: Mapping[str, list[str]], name: str, decimal: str, problems: list[Problem], n: int
) -> tuple[Integers, int]:
    if not name:
        return np.ones(n, np.int64), 1
    read = {text: number_of(text, decimal) for text in dict.fromkeys(texts[name])}
    wrong = [at for at, text in enumerate(texts[name]) if read[text] is None]
    if wrong:
        said = f"{count_of(len(wrong), 'record has', 'records have')} no number ({records_words(np.array(wrong))})."
        problems.append(
            Problem(Reason.BAD_COUNT, f"column {quoted([name])}", said, "Give each record one.")
        )
        return np.ones(n, np.int64), 1
    clean = {text: without_dust(number) for text, number in read.items() if number is not None}
    scale = scale_of(list(clean.values()))
    whole = {text: round(number * scale) for text, number in clean.items()}
    large = [at for at, text in enumerate(texts[name]) if abs(whole[text]) >= _MOST]
    if large:
        said = f"{count_of(len(large), 'number is', 'numbers are')} too large ({records_words(np.array(large))})."
        do = "Give values in thousands or millions."
        problems.append(Problem(Reason.TOO_LARGE, f"column {quoted([name])}", said, do))
        return np.ones(n, np.int64), 1
    return np.array([whole[text] for text in texts[name]], np.int64), scale


def _nodes(
    texts: Sequence[str],
    name: str,
    hierarchy: Hierarchy | None,
    total: str,
    problems: list[Problem],
) -> tuple[AxisNodes, list[Integers], Integers]:
    """Return the nodes of an axis, those that each finest label is in, and the label of each record."""
    codes, labels = _codes(texts)
    where = f"column {quoted([name])}"
    if "" in labels:
        wrong = np.flatnonzero(codes == labels.index(""))
        said = f"{count_of(len(wrong), 'record has', 'records have')} no category ({records_words(wrong)})."
        problems.append(Problem(Reason.MALFORMED, where, said, "Give each record one."))
    made = Hierarchy({}, "") if hierarchy is None else hierarchy
    misplaced = made.total_problems(total, made.labels, where)
    problems += misplaced
    whole = made if misplaced else made.with_total(total)
    parts = whole.parts
    inner = [label for label in labels if label in parts]
    if inner:
        said = f"{count_of(len(inner), 'category is', 'categories are')} a sum by the hierarchy."
        problems.append(
            Problem(Reason.BAD_OPTION, where, said, "Records have the finest categories.")
        )
    if hierarchy is not None:
        known = {*whole.labels, *hierarchy.roots}
        odd = [number for number, label in enumerate(labels) if label and label not in known]
        if odd:
            wrong = np.flatnonzero(np.isin(codes, odd))
            said = (
                f"{count_of(len(odd), 'category is', 'categories are')} not in the hierarchy"
                f" ({records_words(wrong)})."
            )
            do = "Add them to it, or mend them: codes such as 07 may have lost their zero."
            problems.append(Problem(Reason.UNKNOWN_NAME, where, said, do))
    over = [label for label in parts if label != total]
    axis = axis_nodes(parts, [*labels, *over], [total])
    found: list[Integers] = []
    for label in labels:
        own = axis.atoms[axis.number[label]]
        over = [node for node, atoms in enumerate(axis.atoms) if np.isin(own, atoms).all()]
        found.append(np.array(over, np.int64))
    return axis, found, codes


def _spread(
    nodes: Sequence[tuple[AxisNodes, list[Integers], Integers]], n: int, asked: str
) -> tuple[Integers, Integers]:
    """Return the cells that each record adds to, as pairs of a key and the record."""
    per_record = np.ones(n, np.int64)
    for _, above, codes in nodes:
        per_record *= np.array([len(own) for own in above], np.int64)[codes]
    _require_pairs(n, int(per_record.sum()), asked)
    keys, records = np.zeros(n, np.int64), np.arange(n)
    for axis, above, codes in nodes:
        lengths = np.array([len(own) for own in above], np.int64)
        pairs = int(lengths[codes[records]].sum())
        flat = np.concatenate(above)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        own = codes[records]
        counts = lengths[own]
        offsets = np.arange(pairs) - np.repeat(np.cumsum(counts) - counts, counts)
        keys = np.repeat(keys, counts) * len(axis) + flat[np.repeat(starts[own], counts) + offsets]
        records = np.repeat(records, counts)
    return keys, records


def _require_pairs(n: int, n_pairs: int, asked: str, *, least: str = "") -> None:
    """Refuse records that add to more cells than can be added up."""
    what = f"{least.capitalize()}{count_of(n, 'record')}, which add to {least}{n_pairs:,} cells all in all,"
    if n_pairs > _MOST_PAIRS:
        raise LimitError(
            Reason.TOO_LARGE,
            asked,
            f"{what} would take about {duration_text(n_pairs * _SECONDS_OF_PAIR)}; {_MOST_PAIRS:,} are allowed.",
            "Name fewer axes (--axes), or hierarchies with fewer levels.",
        )
    require_memory(asked, n_pairs * _BYTES_OF_PAIR, what, "Name fewer axes (--axes)")


def _table(
    source: Source,
    axes: tuple[str, ...],
    nodes: Sequence[tuple[AxisNodes, list[Integers], Integers]],
    keys: Integers,
    records: Integers,
    values: Integers,
    weights: Integers,
    owners: Integers,
    asks: NDArray[np.bool_],
    *,
    scale: int,
    weight_scale: int,
    has_holdings: bool,
    most: int,
    published: tuple[Integers, int] | None,
    is_count: bool,
) -> MagnitudeTable:
    cells, cell_of = np.unique(keys, return_inverse=True)
    by_owner = np.lexsort((owners[records], cell_of))
    first = np.concatenate(
        [[True], (np.diff(cell_of[by_owner]) != 0) | (np.diff(owners[records][by_owner]) != 0)]
    )
    group = np.cumsum(first) - 1
    n_groups = int(group[-1]) + 1 if len(group) else 0
    own = records[by_owner]
    weighed = np.zeros(n_groups, np.int64)
    largest = int(np.abs(values).max(initial=0)) * int(np.abs(weights).max(initial=0))
    kind = np.int64 if largest * max(len(values), 1) < _MOST else object
    sizes = np.zeros(n_groups, kind)
    if has_holdings:
        np.add.at(sizes, group, values[own].astype(kind) * weights[own].astype(kind))
        weighed[:] = 1
        unit, unit_scale = 1, scale * weight_scale
    else:
        sizes[group], weighed[group] = values[own], weights[own]
        unit, unit_scale = weight_scale, scale
    asked_for = np.zeros(n_groups, bool)
    np.logical_or.at(asked_for, group, asks[own])
    of_group = cell_of[by_owner][first]
    order = np.lexsort((-np.abs(sizes), of_group))
    bounds = np.searchsorted(of_group[order], np.arange(len(cells) + 1))
    made: list[Contributions] = []
    figures: list[Fraction] = []
    for at in range(len(cells)):
        members = order[bounds[at] : bounds[at + 1]]
        top, rest = members[:most], members[most:]
        left = sum((int(abs(sizes[m])) * int(weighed[m]) for m in rest.tolist()), 0)
        made.append(
            Contributions(
                tuple(Fraction(int(abs(sizes[m])), unit_scale) for m in top.tolist()),
                tuple(Fraction(int(weighed[m]), unit) for m in top.tolist()),
                bool(asked_for[members[0]]),
                Fraction(left, unit_scale * unit),
                Fraction(int(weighed[rest].sum()), unit),
                len(members),
            )
        )
        total = sum((int(sizes[m]) * int(weighed[m]) for m in members.tolist()), 0)
        figures.append(Fraction(total, unit_scale * unit))
    shadows: tuple[Fraction, ...] = ()
    if published is not None:
        shown, shown_scale = published
        sums = np.zeros(len(cells), object)
        np.add.at(sums, cell_of, shown[records].astype(object) * weights[records])
        shadows = tuple(figures)
        figures = [Fraction(int(own), shown_scale * weight_scale) for own in sums]
    labels: list[tuple[str, ...]] = []
    left_keys = cells
    for axis, _, _ in reversed(nodes):
        left_keys, node = np.divmod(left_keys, len(axis))
        labels.append(tuple(axis.labels[one] for one in node.tolist()))
    return MagnitudeTable(
        source.name, axes, tuple(reversed(labels)), tuple(figures), tuple(made), len(values), source.fingerprint,
        tuple(axis.labels[axis.total] for axis, _, _ in nodes), shadows, is_count,
    )  # fmt: skip


_SHOWN = 6
Contribution = tuple[int, Fraction]
"""A contributor, by number, and how much it adds."""


@dataclass(frozen=True, eq=False, repr=False)
class Contributors:
    """The contributors to cells.

    - `of_cell`: for each cell its contributors that are known, the largest first.
    - `counts`: for each cell how many contribute, where that is known.
    - `of_contributor`: for each contributor what it adds at least to which cell.
    - `is_named`: whether they are from records, so that one in several cells is one.
    """

    of_cell: dict[int, tuple[Contribution, ...]]
    counts: dict[int, Fraction]
    of_contributor: dict[int, dict[int, Fraction]]
    is_named: bool

    def covers(self, cell: int, n_known: int) -> bool:
        """Whether so many contributors to a cell are all that there are."""
        return self.counts.get(cell) == n_known


def contributors_of_tables(tables: TableSet) -> Contributors:
    """Return the contributors that tables tell of: their number, and the largest of each cell."""
    holders = _Holders(tables)
    found: dict[int, list[Contribution]] = {}
    counts: dict[int, Fraction] = {}
    adds: dict[int, dict[int, Fraction]] = {}
    for table, cells in zip(tables.tables, tables.system.tables, strict=False):
        for at, cell in enumerate(cells.tolist()):
            count = _count(table, at, whole=tables.whole)
            if count is None or cell in counts:
                continue
            counts[cell] = count
            over = list(holders.of(cell)) if table.statuses[at].is_hidden else [cell]
            for size in _largest(table, at, count, whole=tables.whole):
                found.setdefault(cell, []).append((len(adds), size))
                adds[len(adds)] = dict.fromkeys(over, size)
    return Contributors(_ordered(found), counts, adds, is_named=False)


def read_contributors(
    source: Source, tables: TableSet, value: str = "", *, holding: str = ""
) -> Contributors:
    """Read who contributes from records, with columns named as the axes of tables.

    `value` is the column that was added up; without one, each record counts 1. Without a `holding`, each
    record is its own contributor.
    """
    asked = f"Contributors were to be read from {source.words}."
    names = [*tables.axes, *filter(None, (value, holding))]
    source.check_names(names)
    read = text_columns(source, names, asked)
    problems: list[Problem] = []
    atoms = [_atoms(read[name], at, tables, problems) for at, name in enumerate(tables.axes)]
    sizes = _sizes(read.get(value), len(read[names[0]]), source.decimal, value, problems)
    raise_all(asked, problems)
    who: dict[str, int] = {}
    owners = (
        [who.setdefault(one, len(who)) for one in read[holding]]
        if holding
        else list(range(len(sizes)))
    )
    holders = _Holders(tables)
    adds: dict[int, dict[int, Fraction]] = {}
    for key, owner, size in zip(zip(*atoms, strict=True), owners, sizes, strict=True):
        own = adds.setdefault(owner, {})
        for cell in holders.above(key):
            own[cell] = own.get(cell, Fraction(0)) + size
    found: dict[int, list[Contribution]] = {}
    for owner, own in adds.items():
        for cell, size in own.items():
            found.setdefault(cell, []).append((owner, size))
    counts = {cell: Fraction(len(own)) for cell, own in found.items()}
    return Contributors(_ordered(found), counts, adds, is_named=True)


class _Holders:
    """The cells that hold others, looked up by their nodes."""

    def __init__(self, tables: TableSet) -> None:
        self._system = tables.system
        self._cells = {tuple(n): cell for cell, n in enumerate(tables.system.nodes.tolist())}

    def above(self, atoms: Sequence[int]) -> Iterator[int]:
        nodes = [
            axis.over_atoms[atom].tolist()
            for axis, atom in zip(self._system.axes, atoms, strict=True)
        ]
        return self._there(nodes)

    def of(self, cell: int) -> Iterator[int]:
        """Return the cells that hold a cell, itself among them."""
        nodes: list[list[int]] = []
        for axis, node in zip(self._system.axes, self._system.nodes[cell].tolist(), strict=True):
            own = set(axis.atoms[node].tolist())
            first = axis.over_atoms[int(axis.atoms[node][0])].tolist()
            nodes.append([over for over in first if own <= set(axis.atoms[over].tolist())])
        return self._there(nodes)

    def _there(self, nodes: Sequence[Sequence[int]]) -> Iterator[int]:
        return (self._cells[key] for key in product(*nodes) if key in self._cells)


def _count(table: CellRows, at: int, *, whole: bool) -> Fraction | None:
    if table.counts is not None:
        return table.counts[at]
    # People who are counted contribute one each.
    return table.figures[at] if whole else None


def _largest(table: CellRows, at: int, count: Fraction, *, whole: bool) -> list[Fraction]:
    """Return the largest contributions to a cell, as far as its table tells."""
    if whole and table.counts is None:
        return [Fraction(1)] * min(int(count), _SHOWN)
    tops = [own[at] for own in table.tops]
    told = [abs(size) for size in tops if size is not None][: max(int(count), 0)]
    figure = table.figures[at]
    if not told and count == 1 and figure is not None:
        told = [abs(figure)]
    return told


def _ordered(found: dict[int, list[Contribution]]) -> dict[int, tuple[Contribution, ...]]:
    return {
        cell: tuple(sorted(own, key=lambda one: (-one[1], one[0]))) for cell, own in found.items()
    }


def _atoms(texts: list[str], at: int, tables: TableSet, problems: list[Problem]) -> list[int]:
    axis = tables.system.axes[at]
    places = dict(axis.finest)
    for label, node in axis.number.items():
        if axis.is_atom[node]:
            places.setdefault(label, int(axis.atoms[node][0]))
    odd = list(dict.fromkeys(text for text in texts if text not in places))
    if odd:
        said = f"{count_of(len(odd), 'category')} of it {'is' if len(odd) == 1 else 'are'} no finest one of the tables."
        do = "Records have the finest categories, in the words of the tables."
        problems.append(
            Problem(Reason.UNKNOWN_NAME, f"column {quoted([tables.axes[at]])}", said, do)
        )
    return [places.get(text, 0) for text in texts]


def _sizes(
    texts: list[str] | None, n: int, decimal: str, value: str, problems: list[Problem]
) -> list[Fraction]:
    if texts is None:
        return [Fraction(1)] * n
    read = {text: number_of(text, decimal) for text in dict.fromkeys(texts)}
    wrong = sum(read[text] is None for text in texts)
    if wrong:
        said = f"{count_of(wrong, 'record has', 'records have')} no number."
        problems.append(
            Problem(Reason.BAD_COUNT, f"column {quoted([value])}", said, "Give each record one.")
        )
    return [without_dust(read[text] or Fraction(0)) for text in texts]
