"""A release: everything that is published about one base table, and the ways from and to records.

It holds any set of margins of the base table, recoded or not, each exact, hidden in places, given
as intervals or perturbed by a known scheme. Whether its counts contradict each other is for the
bounds to find out; what no scheme could have published is refused here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin
from gamekeeper.algorithms.releases.schemes import HIDDEN, Scheme, SchemeLike, parse_scheme
from gamekeeper.arrow import pa
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.tables import subtotals
from gamekeeper.data.tables.axes import (
    Axis,
    Groups,
    Place,
    PublishedTable,
    axes_of,
    axis_problems,
    category_columns,
    cell_words,
    place_of,
    raise_all,
    table_problems,
)
from gamekeeper.data.tables.count_table import CountTable, typed_table
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import require_made
from gamekeeper.prompt_syntax import Missing
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted, shape_text, unfit_character

__all__ = ["PublishedTable", "Release", "check_truth", "make_release"]

Integers = NDArray[np.int64]

_ASKED = "A release was given."


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Everything published about one base table.

    - `disjoint`: the axes whose categories are known to exclude each other. Of other axes, labels
      that may be sums of others are questioned.

    Examples
    --------
    >>> release = Release.typed(
    ...     {"age": ["16-17", "18-24"], "work": ["yes", "no"]},
    ...     [
    ...         {
    ...             "margin": ["age", "work"],
    ...             "scheme": "conventional:3",
    ...             "counts": [[0, 3], [None, 6]],
    ...         },
    ...         {"margin": [], "counts": 9},
    ...     ],
    ... )
    >>> release
    Release(2 x 2 cells, 2 published tables)
    >>> release.row_words(1)
    "table 'age by work', age=16-17, work=no: published 3"
    >>> release.constraints.margins[0].upper.tolist()[0]
    [1, 4]
    """

    MADE_BY: ClassVar[str] = (
        "gk.make_release(gk.tabulate(gk.code_frame(frame, columns), columns), margins), or of files"
        " gk.read_release(path)"
    )

    axes: tuple[Axis, ...]
    published: tuple[PublishedTable, ...]
    title: str = ""
    disjoint: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = _problems(self.axes, self.published)
        problems += subtotals.disjoint_problems(self.axes, self.disjoint)
        if unfit := unfit_character(self.title):
            problems.append(Problem(Reason.BAD_NAME, "title", f"has {unfit}."))
        if not self.published:
            said = "nothing is published in it."
            problems.append(Problem(Reason.NOTHING_GIVEN, "release", said))
        raise_all(_ASKED, problems)
        subtotals.question_subtotals(_ASKED, self.axes, self.published, self.disjoint)

    @classmethod
    def typed(
        cls,
        axes: Mapping[str, Iterable[object]] | Iterable[Axis],
        published: Iterable[PublishedTable | Mapping[str, Any]],
        title: str = "",
        disjoint: subtotals.Disjoint = (),
    ) -> Release:
        """Return a release from plain values.

        Parameters
        ----------
        published
            Tables as mappings with the fields `margin` (names of axes; none for the total),
            `counts` (nested lists in that order, None for a hidden cell, pairs for intervals) and,
            if wanted, `name`, `scheme` (exact unless said otherwise), `groups` (for recoded axes,
            the categories under each label) and `hidden` (limits of hidden cells).
        disjoint
            The axes whose categories exclude each other, although labels look like sums of others;
            True for all.

        Raises
        ------
        InputError
            With every problem of every table, or with labels that may be sums of others.
        """
        made_axes = axes_of(axes)
        raise_all(_ASKED, axis_problems(made_axes))
        problems: list[Problem] = []
        tables: list[PublishedTable] = []
        for number, given in enumerate(published, start=1):
            if isinstance(given, PublishedTable):
                tables.append(given)
            elif table := typed_table(made_axes, given, number, problems):
                tables.append(table)
        tables = _told_apart(tables)
        if problems:
            raise_all(_ASKED, [*problems, *_problems(made_axes, tables)])
        return cls(made_axes, tuple(tables), title, subtotals.disjoint_names(made_axes, disjoint))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each axis of the base table."""
        return tuple(map(len, self.axes))

    @property
    def size(self) -> int:
        """The number of cells of the base table."""
        return math.prod(self.shape)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def doubted(self) -> tuple[str, ...]:
        """The axes that are said to be disjoint, and would be questioned if they were not."""
        return tuple(
            axis.name
            for axis in self.axes
            if axis.name in self.disjoint and subtotals.find_subtotals(axis, self.published)
        )

    @cached_property
    def assumed(self) -> tuple[subtotals.AssumedDisjoint, ...]:
        """The axes that nobody said are disjoint, and on which labels could be sums of others."""
        return subtotals.assumed_disjoint(self.axes, self.published, self.disjoint)

    @cached_property
    def constraints(self) -> CountConstraints:
        """What the release says of the base table: one margin for each published table."""
        margins: list[CountMargin] = []
        for table, place in zip(self.published, self._places, strict=True):
            lower, upper = (self._in_base_order(limits, table, place) for limits in table.limits)
            margins.append(CountMargin(place.groups, lower, upper))
        return CountConstraints(self.shape, tuple(margins))

    @property
    def concealed(self) -> list[NDArray[np.bool_]]:
        """Which cells of each published table do not show their count, as margins of `constraints`."""
        return [
            (margin.lower < margin.upper)
            | (self._in_base_order(table.counts, table, place) == HIDDEN)
            for table, place, margin in zip(
                self.published, self._places, self.constraints.margins, strict=True
            )
        ]

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that stand for what is published."""
        told: object = [(axis.name, axis.categories) for axis in self.axes]
        digest = sha256(repr(told).encode("utf-8", "replace"))
        for table in self.published:
            groups = [
                (axis, [(label, *members) for label, members in own.items()])
                for axis, own in sorted(table.groups.items())
            ]
            told = (table.axes, table.scheme.text, groups, table.hidden_limits)
            digest.update(repr(told).encode("utf-8", "replace"))
            for counts in (table.counts, table.highs):
                if counts is not None:
                    digest.update(np.ascontiguousarray(counts, dtype="<i8").data)
        return digest.hexdigest()[:16]

    def row_of(self, row: int) -> tuple[int, int]:
        """Return the published table and the cell in it of a row of the constraints.

        Cells are numbered by rows in the order of the published table's own counts.
        """
        number, cell = self._row(row)
        table, place = self.published[number], self._places[number]
        own: dict[str, int] = {}
        for axis, order in zip(reversed(place.own_axes), reversed(place.orders), strict=True):
            cell, label = divmod(cell, len(axis))
            own[axis.name] = int(order[label])
        at = 0
        for name, length in zip(table.axes, table.counts.shape, strict=True):
            at = at * length + own[name]
        return number, at

    def row_words(self, row: int) -> str:
        """Return a row of the constraints in words: table, cell and what is published."""
        number, cell = self._row(row)
        table = self.published[number]
        words = cell_words(self._places[number].own_axes, cell)
        return f"table {quoted([table.name])}, {words}: {table.words(self.row_of(row)[1])}"

    def row_likelihood(self, row: int) -> tuple[int, list[Fraction] | None]:
        """Return the least true sum of a row and the probability of what is published from it up.

        There is one probability for each true sum; None where there is no largest.
        """
        number, cell = self.row_of(row)
        return self.published[number].likelihood(cell)

    def __repr__(self) -> str:
        shape = shape_text(self.shape)
        tables = count_of(len(self.published), "published table")
        return f"{type(self).__name__}({shape} cells, {tables})"

    @cached_property
    def _places(self) -> tuple[Place, ...]:
        return tuple(place_of(self.axes, table) for table in self.published)

    def _row(self, row: int) -> tuple[int, int]:
        for number, place in enumerate(self._places):
            size = math.prod(place.shape)
            if row < size:
                return number, row
            row -= size
        raise IndexError(f"a release with {len(self.published)} tables has no such row")

    def _in_base_order(self, limits: Integers, table: PublishedTable, place: Place) -> Integers:
        order = [table.axes.index(axis.name) for axis in place.own_axes]
        made = limits.transpose(order) if order else limits
        for number, labels in enumerate(place.orders):
            if not np.array_equal(labels, np.arange(len(labels))):
                made = np.take(made, labels, number)
        return np.array(made, order="C").reshape(place.shape)


def make_release(
    truth: CountTable,
    margins: Iterable[Sequence[str]],
    scheme: SchemeLike | Sequence[SchemeLike] = "exact",
    *,
    groups: Mapping[str, Groups] | Sequence[Mapping[str, Groups]] | None = None,
    seed: int | None = None,
    title: str = "",
) -> Release:
    """Publish margins of a table of true counts, in which everybody is in one cell.

    Parameters
    ----------
    margins
        For each published table the names of its axes; none for the total.
    scheme
        The scheme of all tables, or a list with one for each.
    groups
        Axes to be recoded, with the categories under each label: in all tables that have them, or
        a list with one mapping for each table.
    seed
        Makes schemes with chance repeatable.

    Examples
    --------
    >>> truth = CountTable.typed(
    ...     {"age": ["16-17", "18-24"], "work": ["yes", "no"]}, [[3, 0], [1, 8]]
    ... )
    >>> made = make_release(truth, [("age", "work"), ()], ["random:3", "exact"], seed=1)
    >>> made.published[1].counts.tolist()
    12
    """
    wanted = [tuple(margin) for margin in margins]
    schemes: list[SchemeLike]
    if isinstance(scheme, str | Scheme | Mapping):
        schemes = [scheme] * len(wanted)
    else:
        schemes = list(scheme)
    own_groups = (
        [{name: own for name, own in groups.items() if name in margin} for margin in wanted]
        if isinstance(groups, Mapping)
        else list(groups or [{}] * len(wanted))
    )
    problems = [
        Problem(Reason.BAD_OPTION, what, f"{len(given)} are given for {len(wanted)} margins.")
        for what, given in (("schemes", schemes), ("groups", own_groups))
        if len(given) != len(wanted)
    ]
    raise_all("A table was to be published.", problems)
    rng = np.random.default_rng(seed)
    tables: list[PublishedTable] = []
    for margin, rule, own in zip(wanted, schemes, own_groups, strict=True):
        made = parse_scheme(rule)
        sums = truth.margin(margin, own).dense()
        counts = made.publish(sums.reshape(-1), rng).reshape(sums.shape)
        name = " by ".join(margin) or "total"
        tables.append(PublishedTable(name, margin, made, counts, groups=own))
    return Release(truth.axes, tuple(_told_apart(tables)), title, truth.names)


def check_truth(release: Release, truth: CountTable) -> None:
    """Refuse a table that cannot be the truth behind a release; no count is shown.

    >>> truth = CountTable.typed({"age": ["16-17", "18-24"]}, [3, 0])
    >>> check_truth(make_release(truth, [("age",)], "conventional:3"), truth)
    """
    asked = "A release and the true counts behind it were given."
    if truth.axes != release.axes:
        raise_all(
            asked, [Problem(Reason.WRONG_SCHEMA, "truth", "it does not have the release's axes.")]
        )
    problems: list[Problem] = []
    for table in release.published:
        sums = truth.margin(table.axes, table.groups).dense()
        lower, upper = table.limits
        outside = int(np.count_nonzero((sums < lower) | (sums > upper)))
        if outside:
            found = f"{count_of(outside, 'count')} cannot come from the true ones."
            where = f"table {quoted([table.name])}"
            problems.append(Problem(Reason.CONFLICTING_COUNTS, where, found))
    raise_all(asked, problems, "Check the schemes, and that both are of the same people.")


def _problems(axes: Sequence[Axis], published: Sequence[PublishedTable]) -> list[Problem]:
    problems = axis_problems(axes)
    if not axes:
        said = "the base table has none. A total is a margin of a table with axes."
        problems.append(Problem(Reason.NOTHING_GIVEN, "axes", said))
    if problems:
        return problems
    names = [table.name for table in published]
    problems += [
        Problem(Reason.DUPLICATE, f"table {quoted([name])}", "there are several of this name.")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    problems += [
        Problem(Reason.BAD_NAME, f"table {quoted([name])}", f"has a name with {unfit}.")
        for name in dict.fromkeys(names)
        if (unfit := unfit_character(name))
    ]
    for table in published:
        problems += table_problems(axes, table)
    return problems


def _told_apart(tables: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Return the tables, those that are named by their axes and not alone with a number."""
    seen: dict[str, int] = {}
    made: list[PublishedTable] = []
    for table in tables:
        seen[table.name] = number = seen.get(table.name, 0) + 1
        by_axes = table.name == (" by ".join(table.axes) or "total")
        named = replace(table, name=f"{table.name} ({number})") if by_axes and number > 1 else table
        made.append(named)
    return made


_RULES = (Missing.CATEGORY, Missing.EXCLUDE)


def tabulate(
    coded: CodedTable,
    axes: Sequence[str],
    *,
    missing: Missing | str = Missing.CATEGORY,
    progress: Progress | None = None,
) -> CountTable:
    """Count the records of a file by some variables.

    Parameters
    ----------
    axes
        The names of the variables; none for the number of records.
    missing
        What a missing cell means: "category" (the last category of its axis, which is there only
        if a cell is missing) or "exclude" (records with a missing cell are left out).
    progress
        Told how much of the step at hand is done, and of how much; it may raise to cancel.

    Returns
    -------
    CountTable
        With every category of the codebook, in its order and words; dense up to
        `gamekeeper.data.tables.count_table.DENSE_CELLS` cells, and else with its non-zero cells.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> coded = coded_from_codes([[1, 1], [1, 1], [2, 0]], ["sex", "age"])
    >>> table = tabulate(coded, ["sex", "age"])
    >>> table.axes[1].categories, table.dense().tolist()
    (('1', 'missing'), [[2, 0], [0, 1]])
    """
    require_made(coded, (CodedTable,), "tabulate was called.")
    if missing not in _RULES:
        raise InputError(
            Reason.BAD_OPTION,
            f"Missing cells were to be read as {quoted([str(missing)])} in a table of counts.",
            "A record belongs to one cell of a table.",
            f"There are: {quoted(_RULES)}.",
        )
    if not axes:
        return CountTable((), np.array(coded.n_records, np.int64))
    keys = count_keys(coded, axes, missing=missing, progress=progress)
    classes = keys.classes()
    cells = np.zeros(classes.num_rows, np.int64)
    made: list[Axis] = []
    for place, name in enumerate(axes):
        words = coded.codebook[name].words
        codes = classes.column(place).to_numpy().astype(np.int64)
        gone = codes == MISSING
        categories = (*words[1:], words[MISSING]) if gone.any() else words[1:]
        made.append(Axis(name, categories))
        cells = cells * len(categories) + np.where(gone, len(words) - 1, codes - 1)
    counts = classes.column(len(axes)).to_numpy().astype(np.int64)
    return CountTable.of_cells(made, cells, counts)


_BYTES = 12


def unit_records(table: CountTable) -> pa.Table:
    """Return one row per unit of a table of counts, with its category on each axis.

    Examples
    --------
    >>> table = CountTable.typed({"age": ["young", "old"], "work": ["yes", "no"]}, [[1, 0], [0, 2]])
    >>> unit_records(table).to_pylist()
    [{'age': 'young', 'work': 'yes'}, {'age': 'old', 'work': 'no'}, {'age': 'old', 'work': 'no'}]
    """
    require_memory(
        "A table of counts was to be written as records.",
        table.total * len(table.axes) * _BYTES,
        f"{count_of(table.total, 'record')} of {count_of(len(table.axes), 'column')}",
        "Keep fewer columns as axes (--axes)",
    )
    return pa.table(category_columns(table.axes, np.repeat(*table.nonzero)))
