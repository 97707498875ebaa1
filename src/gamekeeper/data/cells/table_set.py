"""All that is published of one base: tables with subtotals, linked by their axes, as cells and sums.

A release of counts that are shown or hidden is one too: its groups are sums of the categories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.cell_system import (
    AxisNodes,
    CellSystem,
    Kind,
    axis_nodes,
    cell_system,
)
from gamekeeper.algorithms.releases.schemes import HIDDEN, Exact, Suppressed
from gamekeeper.data.cells.axis_sums import (
    ASKED,
    Declared,
    axis_hierarchies,
    never_listed,
    wholes_of,
)
from gamekeeper.data.cells.cell_file import CellRows, Figures, Status
from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.tables.axes import raise_all
from gamekeeper.data.tables.count_file import require_absent
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, listed, on_one_line, quoted

Integers = NDArray[np.int64]
_SHOWN = 6
_LETTERS = 40
_MOST_LETTERS = 400


@dataclass(frozen=True, eq=False, repr=False)
class TableSet:
    """Published tables of one base.

    - `system`: their cells, and which add up to which.
    - `figures`: the published figure of each cell; None where none is published.
    - `truths`: the figure of each cell that is hidden, where the files have it.
    - `statuses`: what became of each cell: shown, if any table shows it.
    - `hidden`: the cells that some table hides.
    - `published_elsewhere`: those among them that another table shows.
    - `whole`: whether figures are counts.
    - `absent`: what a cell without a row means.
    - `notices`: what to know of how they were put together.
    - `assumed`: for axes of which nobody said how their labels add up, sets of labels that are
      taken to exclude each other.
    """

    MADE_BY: ClassVar[str] = "gk.tables.TableSet.of([gk.tables.read_cells(path, columns)])"

    tables: tuple[CellRows, ...]
    axes: tuple[str, ...]
    totals: Mapping[str, tuple[str, ...]]
    system: CellSystem
    figures: tuple[Fraction | None, ...]
    truths: tuple[Fraction | None, ...]
    statuses: tuple[Status, ...]
    hidden: Integers
    published_elsewhere: frozenset[int]
    whole: bool
    absent: str
    notices: tuple[str, ...] = ()
    assumed: Mapping[str, tuple[tuple[str, ...], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], ...]]
    )

    @classmethod
    def of(
        cls,
        tables: Sequence[CellRows],
        hierarchies: Declared | None = None,
        *,
        totals: Sequence[str] = ("Total",),
        disjoint: Sequence[str] = (),
        absent: str = "error",
        whole: bool = True,
    ) -> TableSet:
        """Put tables together.

        Parameters
        ----------
        hierarchies
            For axes with subtotals, which label is the sum of which.
        totals
            The labels that stand for a whole axis.
        disjoint
            The axes whose labels exclude each other, although some look like sums of others.
        absent
            What a cell without a row means, beside others that have one: "error", "zero" or "hidden".
        whole
            Whether figures are counts.

        Examples
        --------
        >>> rows = [["Total", 18], ["South", None], ["North", 9], ["East", 7]]
        >>> made = TableSet.of([CellRows.typed(["area"], rows)])
        >>> made, made.words(int(made.hidden[0]))
        (TableSet(1 table, 4 cells, 1 hidden), 'area=South')
        """
        _check(tables, absent)
        tables = [_without_placeholders(table) for table in tables]
        names = tuple(dict.fromkeys(name for table in tables for name in table.axes))
        labels = {
            name: tuple(
                dict.fromkeys(label for t in tables if name in t.axes for label in t.labels[t.axes.index(name)])
            )
            for name in names
        }  # fmt: skip
        own_totals = {
            name: tuple(
                dict.fromkeys(
                    [*totals, *(label for t in tables for label in t.totals.get(name, ()))]
                )
            )
            for name in names
        }
        declared = dict(hierarchies or {})
        made, notices = axis_hierarchies(tables, labels, own_totals, declared, disjoint)
        nodes = tuple(
            axis_nodes(
                made[n].parts,
                labels[n],
                wholes_of(own_totals[n], labels[n]),
                (*made[n].open_parts, *never_listed(n, made[n], tables)),
            )
            for n in names
        )
        rows = [_placed(table, names, nodes) for table in tables]
        system = cell_system(nodes, [*rows, *_extra(tables, names, nodes, rows)])
        found = _joined(
            tables, names, own_totals, system, whole=whole, absent=absent, notices=notices
        )
        return replace(found, assumed=_assumed(made, labels, own_totals))

    def words(self, cell: int) -> str:
        """Return a cell in the words of its labels; axes that are whole are left out."""
        parts = [
            f"{on_one_line(name, _LETTERS)}={on_one_line(axis.labels[node], _LETTERS)}"
            for name, axis, node in zip(
                self.axes, self.system.axes, self.system.nodes[cell].tolist(), strict=True
            )
            if node != axis.total
        ]
        return ", ".join(parts) or "total"

    def some_words(self, cells: Sequence[int]) -> str:
        """Return the first of some cells in words, and the number of the others."""
        first = [self.words(cell) for cell in cells[:_SHOWN]]
        return listed(first, _SHOWN, among=len(cells), letters=_MOST_LETTERS)

    def labels_of(self, cell: int) -> tuple[str, ...]:
        """Return the label of a cell on each axis; that of the total where it is whole."""
        return tuple(
            axis.labels[node]
            for axis, node in zip(self.system.axes, self.system.nodes[cell].tolist(), strict=True)
        )

    @cached_property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of the hash of what is published and hidden."""
        told = sha256()
        for table in self.tables:
            told.update(repr((table.name, table.axes)).encode())
            for row in zip(*table.labels, table.figures, table.statuses, strict=True):
                told.update(repr(row).encode())
            if table.limits:
                told.update(repr(table.printed).encode())
                said = [mark if mark in table.limits else "" for mark in table.marks]
                told.update(repr(said).encode() if any(said) else b"")
        return told.hexdigest()[:16]

    def __repr__(self) -> str:
        tables = count_of(len(self.tables), "table")
        return f"TableSet({tables}, {self.system.n_cells:,} cells, {len(self.hidden):,} hidden)"


def _without_placeholders(table: CellRows) -> CellRows:
    """Return a table without numbers of hidden rows that are all 0, or below it: these stand for nothing."""
    if not table.n_hidden:
        return table
    counts = None if table.counts is None else _without_placeholder(table, table.counts)
    tops = tuple(_without_placeholder(table, own) for own in table.tops)
    figures = _without_placeholder(table, table.figures)
    if figures == table.figures:
        return replace(table, counts=counts, tops=tops)
    said = (
        f"All hidden rows of {quoted([table.name])} have the same figure, 0 or below: it is taken to stand in"
        " the place of what is hidden."
    )
    notices = (*table.notices, said)
    return replace(table, figures=figures, counts=counts, tops=tops, notices=notices)


def _without_placeholder(table: CellRows, figures: Figures) -> Figures:
    rows = list(zip(figures, table.statuses, strict=True))
    hidden = {own for own, status in rows if status.is_hidden and own is not None}
    if len(hidden) != 1 or max(hidden) > 0:
        return figures
    return [None if status.is_hidden else own for own, status in rows]


def _assumed(
    made: Mapping[str, Hierarchy],
    labels: Mapping[str, tuple[str, ...]],
    totals: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return what nobody said excludes each other: what is part of nothing, and what has no parts."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, hierarchy in made.items():
        inner = {part for ways in hierarchy.parts.values() for way in ways for part in way}
        wholes = {total.casefold() for total in totals[name]}
        own = [label for label in labels[name] if label.casefold() not in wholes]
        sets = {
            tuple(label for label in own if label not in inner): None,
            tuple(label for label in own if label not in hierarchy.parts): None,
        }
        # What holds more than its parts may hold any other label beside them.
        more = set(hierarchy.open_parts)
        beside = {
            part
            for ways in hierarchy.parts.values()
            for way in ways
            if more & set(way)
            for part in way
        }
        sets |= {tuple(label for label in own if label not in inner or label in beside): None}
        if not hierarchy.is_told:
            found[name] = tuple(sets)
    return found


def _check(tables: Sequence[CellRows], absent: str) -> None:
    require_absent(absent)
    problems: list[Problem] = []
    for table in tables:
        again = [key for key, n in Counter(zip(*table.labels, strict=True)).items() if n > 1]
        if again and table.axes:
            said = f"{count_of(len(again), 'cell has', 'cells have')} more than one row ({_named(table.axes, again)})."
            do = "Give each cell one row, or name further columns as axes (--axes)."
            problems.append(Problem(Reason.DUPLICATE, f"table {quoted([table.name])}", said, do))
        problems += _shares(table)
    if not tables:
        problems.append(Problem(Reason.NOTHING_GIVEN, "tables", "there are none."))
    raise_all(ASKED, problems)


def _shares(table: CellRows) -> list[Problem]:
    """Return what is wrong with what percentages and ratios are said to be shares of."""
    known = {name: set(own) for name, own in zip(table.axes, table.labels, strict=True)}
    problems: list[Problem] = []
    for share in table.shares:
        for own in share.of:
            axis = next((name for name in known if own == name or own.startswith(f"{name}:")), None)
            label = None if axis is None else share.label_of(axis)
            if axis is None or (label and label not in known[axis]):
                axes = (
                    did_you_mean(own, known)
                    or f"Axes are {quoted(known)}; a label is written AXIS:LABEL."
                )
                problems.append(
                    Problem(
                        Reason.UNKNOWN_NAME,
                        f"column {quoted([share.name])}",
                        f"is said to be a share of {quoted([own])}, which is no axis or label of the table.",
                        axes,
                    )
                )
    return problems


def _named(axes: Sequence[str], keys: Sequence[Sequence[str]]) -> str:
    words = [
        ", ".join(
            f"{name}={on_one_line(label, _LETTERS)}" for name, label in zip(axes, key, strict=True)
        )
        for key in keys[:_SHOWN]
    ]
    return listed(words, _SHOWN, among=len(keys), letters=_MOST_LETTERS)


def _placed(table: CellRows, names: Sequence[str], nodes: Sequence[AxisNodes]) -> Integers:
    rows = np.empty((len(table), len(names)), np.int64)
    for at, (name, axis) in enumerate(zip(names, nodes, strict=True)):
        if name not in table.axes:
            rows[:, at] = axis.total
        else:
            rows[:, at] = [axis.number[label] for label in table.labels[table.axes.index(name)]]
    return rows


def _extra(
    tables: Sequence[CellRows],
    names: Sequence[str],
    nodes: Sequence[AxisNodes],
    rows: Sequence[Integers],
) -> list[Integers]:
    """Return the wholes of published percentages, which need not be published themselves."""
    found: list[Integers] = []
    for table, own in zip(tables, rows, strict=True):
        for share in table.shares:
            wholes = own.copy()
            for at, name in enumerate(names):
                label = share.label_of(name)
                if label is not None:
                    wholes[:, at] = nodes[at].number[label] if label else nodes[at].total
            found.append(np.unique(wholes, axis=0))
    return found


def _joined(
    tables: Sequence[CellRows],
    names: tuple[str, ...],
    totals: Mapping[str, tuple[str, ...]],
    system: CellSystem,
    *,
    whole: bool,
    absent: str,
    notices: Sequence[str],
) -> TableSet:
    figures: list[Fraction | None] = [None] * system.n_cells
    truths: list[Fraction | None] = [None] * system.n_cells
    statuses = [Status.UNPUBLISHED] * system.n_cells
    shown: set[int] = set()
    hidden: dict[int, None] = {}
    odd: list[int] = []
    for table, cells in zip(tables, system.tables, strict=False):
        for cell, figure, status in zip(cells.tolist(), table.figures, table.statuses, strict=True):
            if status is Status.EMPTY:
                figure, status = Fraction(0), Status.SHOWN
            if status is Status.SHOWN:
                if cell in shown and figures[cell] != figure:
                    odd.append(cell)
                figures[cell] = figure
                shown.add(cell)
                continue
            if figure is not None:
                truths[cell] = figure
            if status.is_hidden:
                hidden[cell] = None
                if statuses[cell] in (Status.UNPUBLISHED, Status.HIDDEN) or status is Status.UNSAFE:
                    statuses[cell] = status
    made = TableSet(
        tuple(tables), names, totals, system, tuple(figures), tuple(truths),
        tuple(Status.SHOWN if cell in shown and cell not in hidden else own for cell, own in enumerate(statuses)),
        np.array(sorted(hidden), np.int64), frozenset(shown & set(hidden)), whole, absent, tuple(notices),
    )  # fmt: skip
    raise_all(ASKED, [*_twice(made, odd), *_missing(made)])
    return made


def _twice(made: TableSet, odd: Sequence[int]) -> list[Problem]:
    cells = list(dict.fromkeys(odd))
    if not cells:
        return []
    words = made.some_words(cells)
    said = f"{count_of(len(cells), 'cell is', 'cells are')} published with different figures ({words})."
    do = "Are they of one base? Audit tables apart, or mend them."
    return [Problem(Reason.CONFLICTING_COUNTS, "tables", said, do)]


def _missing(made: TableSet) -> list[Problem]:
    cells = np.flatnonzero(made.system.kinds == Kind.ABSENT).tolist()
    if made.absent != "error" or not cells:
        return []
    words = made.some_words(cells)
    said = f"{count_of(len(cells), 'cell has', 'cells have')} no row, and others beside them have ({words})."
    do = "Add them, or say what a cell without a row means: --absent zero, or --absent hidden."
    return [Problem(Reason.NOTHING_GIVEN, "tables", said, do)]


def cells_of_release(release: Release) -> tuple[list[CellRows], dict[str, Hierarchy]]:
    """Return the tables of a release, and the hierarchies that its groups make.

    Tables of counts that are not the true ones, or of intervals, are an `InputError`.
    """
    problems = [
        Problem(
            Reason.BAD_OPTION,
            f"table {quoted([table.name])}",
            f"is published as '{table.scheme.text}'.",
        )
        for table in release.published
        if not isinstance(table.scheme, Exact | Suppressed)
    ]
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "A release was to be audited for what its hidden cells are.",
            "Some of its tables are rounded, perturbed or given as intervals.",
            "Bound their cells instead, and hold them to the same rules (--rule of tables bounds).",
            problems=problems,
        )
    tables: list[CellRows] = []
    ways: dict[str, dict[str, tuple[str, ...]]] = {}
    by_name = {axis.name: axis for axis in release.axes}
    for table in release.published:
        labels = [
            tuple(table.groups[name]) if name in table.groups else by_name[name].categories
            for name in table.axes
        ]
        for name, groups in table.groups.items():
            ways.setdefault(name, {}).update(
                {label: tuple(own) for label, own in groups.items() if tuple(own) != (label,)}
            )
        keys = list(product(*labels))
        flat = table.counts.reshape(-1).tolist()
        figures = [None if count == HIDDEN else Fraction(count) for count in flat]
        tables.append(
            CellRows(
                table.name,
                table.axes,
                tuple([key[at] for key in keys] for at in range(len(table.axes))),
                figures,
                [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures],
                ["" for _ in figures],
                hidden_limits=table.hidden_limits,
            )
        )
    made: dict[str, Hierarchy] = {}
    for name in dict.fromkeys(name for table in release.published for name in table.axes):
        children = {**ways.get(name, {}), **dict.fromkeys(by_name[name].categories, ())}
        source = f"{'the groups of ' if name in ways else ''}axis {quoted([name])}"
        tree = Hierarchy.of_tree(children, source)
        made[name] = replace(tree, is_told=name in ways or name in release.disjoint)
    return tables, made
