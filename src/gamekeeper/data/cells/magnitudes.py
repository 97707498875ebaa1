"""Tables of sums of a response, counted from records: figure, contributors, and the largest contributions.

Contributions of one holding are added up before anything is compared. A record of weight w stands for
w units of its size; a holding, whose records may have different weights, is one unit of what they
stand for together. Sums are exact: values and weights, to six decimals, are whole numbers after scaling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.axis_nodes import AxisNodes, axis_nodes
from gamekeeper.algorithms.cells.primary_rules import Contributions
from gamekeeper.budget import require_memory
from gamekeeper.data.cells.cell_rows import without_dust
from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.cells.undeclared_sums import scale_of
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.data.reading.source import Source
from gamekeeper.data.tables.axes import raise_all
from gamekeeper.data.tables.column_texts import text_columns
from gamekeeper.data.tables.count_rows import records_words
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

    Attributes
    ----------
    name
        The file that it was counted from.
    labels
        For each axis the label of each cell.
    figures
        The sum of each cell; the number of units where no response was named.
    cells
        The largest contributions to each cell, and what is left.
    n_records
        How many records were counted.
    totals
        What the whole of each axis is called.
    shadows
        The sum of the shadow variable in each cell, where the rules look at one.
    is_count
        Whether units were counted, and nothing was added up.
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
    """Add up a response by axes, with every subtotal and total.

    Parameters
    ----------
    source
        Records, one per unit.
    axes
        The columns to add up by.
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
