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
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import (
    HIDDEN,
    Conventional,
    Exact,
    Interval,
    RandomRounding,
    Suppressed,
)
from gamekeeper.data.reading.columns import Limits
from gamekeeper.data.tables.axes import Perturbed, PublishedTable, behind, raise_all
from gamekeeper.data.tables.cell_file import CellRows, Figures, Status
from gamekeeper.data.tables.count_file import require_absent
from gamekeeper.data.tables.hierarchy import (
    ASKED,
    Declared,
    Hierarchy,
    axis_hierarchies,
    never_listed,
    wholes_of,
)
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, listed, on_one_line, quoted

Integers = NDArray[np.int64]
_SHOWN = 6
_LETTERS = 40
_MOST_LETTERS = 400
_OVERRULED = (Status.UNPUBLISHED, Status.HIDDEN, Status.PERTURBED)


@dataclass(frozen=True, eq=False, repr=False)
class TableSet:
    """Published tables of one base.

    - `system`: their cells, and which add up to which.
    - `figures`: the published figure of each cell; None where none is published.
    - `truths`: the figure of each cell that is hidden, where the files have it.
    - `statuses`: what became of each cell: shown, if any table shows it.
    - `hidden`: the cells that some table hides, or does not show as they are.
    - `perturbed`: what is published of those that are shown, but not as they are.
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
    perturbed: Mapping[int, Perturbed] = field(default_factory=dict[int, Perturbed])
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
        problems: list[Problem] = []
        tables = [
            _under_scheme(_without_placeholders(table), problems, whole=whole) for table in tables
        ]
        raise_all(ASKED, problems)
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
            if Status.PERTURBED in table.statuses:
                told.update(table.scheme.text.encode())
            if table.limits:
                told.update(repr(table.printed).encode())
                said = [mark if mark in table.limits else "" for mark in table.marks]
                told.update(repr(said).encode() if any(said) else b"")
        return told.hexdigest()[:16]

    @cached_property
    def absent_zeros(self) -> list[int]:
        """The cells without a row that were left out because nobody is in them, where that is said."""
        absent = self.system.kinds == Kind.ABSENT
        if self.absent != "zero":
            return []
        listed = self.system.kinds == Kind.LISTED
        # What has parts that are published, at whatever level, is not empty, but was left out.
        is_left_out = np.zeros(len(absent), bool)
        of_absent = [
            self.system.equation(e)
            for e in np.flatnonzero(absent[self.system.parts[self.system.starts[:-1]]]).tolist()
        ]
        while True:
            more = [
                whole
                for whole, parts in of_absent
                if not is_left_out[whole] and (listed[parts] | is_left_out[parts]).any()
            ]
            if not more:
                break
            is_left_out[more] = True
        return np.flatnonzero(absent & ~is_left_out).tolist()

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


def _under_scheme(table: CellRows, problems: list[Problem], *, whole: bool) -> CellRows:
    """Return a table in which figures that stand for several are marked as perturbed.

    What the scheme hides limits hidden cells. What it could not have published is a problem.
    """
    scheme = table.scheme
    if isinstance(scheme, Exact):
        return table
    where = f"table {quoted([table.name])}"
    if not whole and not isinstance(scheme, Conventional | RandomRounding):
        said = f"has values, and '{scheme.text}' is a scheme for counts."
        do = "Values can be rounded: conventional:5, random:5 (--scheme), or --tolerance 0.5."
        problems.append(Problem(Reason.BAD_OPTION, where, said, do))
        return table
    if isinstance(scheme, Interval):
        problems += _not_cut(table, scheme, where)
        return table
    is_changing = not isinstance(scheme, Suppressed)
    if is_changing and table.limits:
        said = f"some cells are limits, and the others counts under '{scheme.text}'."
        do = "Read such tables as exact or suppressed ones, or write every count as an interval."
        problems.append(Problem(Reason.BAD_OPTION, where, said, do))
        return table
    statuses = list(table.statuses)
    stands_for: dict[int, Perturbed] = {}
    impossible: list[int] = []
    for at, (figure, status) in enumerate(zip(table.figures, table.statuses, strict=True)):
        if status is not Status.SHOWN or figure is None:
            continue
        found = behind(scheme, figure, whole=whole)
        if found is None:
            impossible.append(at)
        elif found.low != found.high:
            statuses[at], stands_for[at] = Status.PERTURBED, found
    problems += _impossible(table, impossible, where)
    hidden = scheme.reach(HIDDEN) if whole else None
    limits = hidden if table.hidden_limits is None else table.hidden_limits
    return replace(table, statuses=statuses, stands_for=stands_for, hidden_limits=limits)


def _impossible(table: CellRows, rows: Sequence[int], where: str) -> list[Problem]:
    if not rows:
        return []
    first = ", ".join(
        f"{name}={labels[rows[0]]}" for name, labels in zip(table.axes, table.labels, strict=True)
    )
    cells = count_of(len(rows), "published figure")
    said = f"{cells} cannot come from '{table.scheme.text}' (see {first or 'the total'})."
    do = "Check the figures and the scheme (--scheme)."
    return [Problem(Reason.IMPOSSIBLE_COUNT, where, said, do)]


def _not_cut(table: CellRows, scheme: Interval, where: str) -> list[Problem]:
    """Return the intervals that a scheme never publishes as a problem."""
    if not scheme.cuts:
        return []
    rows: list[int] = []
    printed = table.printed or [""] * len(table)
    for at, (figure, text) in enumerate(zip(table.figures, printed, strict=True)):
        if text in table.limits:
            low, high = table.limits[text].of_whole()
            is_told = scheme.admits(low or 0, high)
        else:
            is_told = figure is None or scheme.admits(int(figure), int(figure))
        rows += [] if is_told else [at]
    return _impossible(table, rows, where)


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
    perturbed: dict[int, Perturbed] = {}
    odd: list[int] = []
    for table, cells in zip(tables, system.tables, strict=False):
        # Of what is hidden, too, nobody knows whether the file has the figure before or after.
        is_changed = not isinstance(table.scheme, Exact | Interval | Suppressed)
        rows = zip(cells.tolist(), table.figures, table.statuses, strict=True)
        for row, (cell, figure, status) in enumerate(rows):
            if status is Status.EMPTY:
                figure, status = Fraction(0), Status.SHOWN
            if status is Status.SHOWN:
                if cell in shown and figures[cell] != figure:
                    odd.append(cell)
                figures[cell] = figure
                shown.add(cell)
                continue
            if status is Status.PERTURBED:
                told = table.stands_for[row]
                perturbed[cell] = perturbed[cell].beside(told) if cell in perturbed else told
                hidden[cell] = None
                if statuses[cell] is Status.UNPUBLISHED:
                    statuses[cell] = status
                continue
            if figure is not None and not is_changed:
                truths[cell] = figure
            if status.is_hidden:
                hidden[cell] = None
                if statuses[cell] in _OVERRULED or status is Status.UNSAFE:
                    statuses[cell] = status
    # What one table shows as it is must be what the others can stand for.
    odd += [
        cell
        for cell, one in perturbed.items()
        if not one.is_possible or (cell in shown and not one.holds(figures[cell] or Fraction(0)))
    ]
    made = TableSet(
        tuple(tables), names, totals, system, tuple(figures), tuple(truths),
        tuple(Status.SHOWN if cell in shown and cell not in hidden else own for cell, own in enumerate(statuses)),
        np.array(sorted(hidden), np.int64), frozenset(shown & set(hidden)), whole, absent, perturbed,
        tuple(notices),
    )  # fmt: skip
    raise_all(ASKED, [*_twice(made, odd), *_missing(made)])
    return _with_rounded_zeros(made)


def _with_rounded_zeros(made: TableSet) -> TableSet:
    """Return the tables with cells without a row, which were published as 0, as what that stands for."""
    schemes = {table.scheme.text: table.scheme for table in made.tables}
    zeros = made.absent_zeros if made.perturbed else []
    if not zeros:
        return made
    if len(schemes) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            ASKED,
            f"Tables under several schemes ({', '.join(schemes)}) have cells without a row"
            f" ({made.some_words(zeros)}), and it is not known by which of them they are 0.",
            "Add the rows, or read them as hidden: --absent hidden.",
        )
    (scheme,) = schemes.values()
    told = behind(scheme, Fraction(0), whole=made.whole)
    if told is None or told.low == told.high:
        return made
    hidden = np.union1d(made.hidden, np.array(zeros, np.int64))
    statuses = list(made.statuses)
    for cell in zeros:
        statuses[cell] = Status.PERTURBED
    perturbed = {**made.perturbed, **dict.fromkeys(zeros, told)}
    return replace(made, hidden=hidden, statuses=tuple(statuses), perturbed=perturbed)


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
    """Return the tables of a release, and the hierarchies that its groups make."""
    tables: list[CellRows] = []
    ways: dict[str, dict[str, tuple[str, ...]]] = {}
    by_name = {axis.name: axis for axis in release.axes}
    for table in release.published:
        labels: list[tuple[str, ...]] = []
        for name in table.axes:
            own, categories = ways.setdefault(name, {}), by_name[name].categories
            labels.append(categories)
            if name in table.groups:
                labels[-1] = tuple(
                    _joint_label(own, categories, label, tuple(members))
                    for label, members in table.groups[name].items()
                )
        tables.append(_cells_of_table(table, labels))
    made: dict[str, Hierarchy] = {}
    for name in dict.fromkeys(name for table in release.published for name in table.axes):
        children = {**ways[name], **dict.fromkeys(by_name[name].categories, ())}
        is_grouped = any(name in table.groups for table in release.published)
        source = f"{'the groups of ' if is_grouped else ''}axis {quoted([name])}"
        tree = Hierarchy.of_tree(children, source)
        made[name] = replace(tree, is_told=is_grouped or name in release.disjoint)
    return tables, made


def _joint_label(
    own: dict[str, tuple[str, ...]], categories: Sequence[str], label: str, members: tuple[str, ...]
) -> str:
    """Note what a label of a group stands for, and return it; another one where it is taken."""
    if members == (label,):
        return label
    number, free = 1, label
    while free in categories or own.get(free, members) != members:
        number += 1
        free = f"{label} ({number})"
    own[free] = members
    return free


def _cells_of_table(table: PublishedTable, labels: Sequence[Sequence[str]]) -> CellRows:
    keys = list(product(*labels))
    flat = table.counts.reshape(-1).tolist()
    figures = [None if count == HIDDEN else Fraction(count) for count in flat]
    printed: list[str] | None = None
    limits: dict[str, Limits] = {}
    if isinstance(table.scheme, Interval):
        lower, upper = (ends.reshape(-1).tolist() for ends in table.limits)
        printed = [""] * len(flat)
        for at, (low, high) in enumerate(zip(lower, upper, strict=True)):
            if low == high:
                continue
            text = f"{low}+" if high >= UNBOUNDED else f"{low}-{high}"
            most = None if high >= UNBOUNDED else Fraction(high)
            figures[at], printed[at], limits[text] = None, text, Limits(Fraction(low), most)
    return CellRows(
        table.name,
        table.axes,
        tuple([key[at] for key in keys] for at in range(len(table.axes))),
        figures,
        [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures],
        ["" for _ in figures],
        hidden_limits=None if printed else table.hidden_limits,
        printed=printed,
        limits=limits,
        # What is an interval is one that the scheme publishes; what is hidden need not be.
        scheme=Interval() if printed else table.scheme,
    )
