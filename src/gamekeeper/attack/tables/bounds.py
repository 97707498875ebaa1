"""Bounds on the cells of a table, given everything that is published, and how rules stand by them.

The table is the base table, or one made of it by joining categories or summing out axes; how bounds
are found is the matter of `bounding`. To a rule a cell counts as hidden where no table shows its
count: hidden, given as an interval or perturbed, in the base table or in a published margin of it,
and a cell of the base table that no table is about.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.cell_system import Kind
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountMargin
from gamekeeper.arrow import pa
from gamekeeper.attack.tables import bounding
from gamekeeper.attack.tables.audit_result import figure_text, printed_text
from gamekeeper.attack.tables.auditing import Examined, examined, facts_told
from gamekeeper.attack.tables.insiders import Interval
from gamekeeper.attack.tables.options import BoundsInput, BoundsMethod, RecodedInput
from gamekeeper.attack.tables.rules import NamedRule, RuleStanding, failing_rules, judge, read_rules
from gamekeeper.budget import require_memory
from gamekeeper.data.tables.axes import Axis, category_columns, unknown_axes
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.subtotals import AssumedDisjoint
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import takes, texts_of
from gamekeeper.results import Progress, Provenance, Result, table_html
from gamekeeper.wording import be, count_of, digits_text, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Integers = NDArray[np.int64]
Groups = Mapping[str, Mapping[str, Sequence[str]]]
_BYTES = 450
"""What is kept of a cell: two ends as fractions, of a number that few others have. Measured."""
# Measured on tables of 2^18 to 2^22 cells: two bounds, whether they are tight, and copies on the way;
# the word of a category in a list.
_CELL_BYTES, _WORD_BYTES = 40, 20


def judge_release(
    release: Release,
    rules: Sequence[NamedRule],
    base: bounding.Solved,
    most_programs: int | None = None,
    progress: Progress | None = None,
) -> tuple[RuleStanding, ...]:
    """Return how each rule stands; numbers of cells go on from the base table to the margins."""
    if not rules:
        return ()
    found = hidden_intervals(release, base, most_programs, progress)
    standings = judge(rules, found)
    for one in standings:
        sums = sum(cell >= release.size for cell in one.broken)
        if sums:
            one.notes.append(
                f"{count_of(sums, 'cell')} that {'breaks' if sums == 1 else 'break'} rule {one.rule}"
                f" {be(sums)} of margins, which --keep of tables bounds shows."
            )
    return tuple(standings)


def hidden_intervals(
    release: Release,
    base: bounding.Solved,
    most_programs: int | None = None,
    progress: Progress | None = None,
) -> dict[int, Interval]:
    """Return what is known of each count that no table shows."""
    n_cells = max(release.size, sum(int(own.sum()) for own in release.concealed))
    require_memory(
        "Bounds on the cells of a release were to be held to rules.",
        n_cells * _BYTES,
        f"Those of up to {count_of(n_cells, 'cell')}",
        "Bound fewer axes (--keep of tables bounds), or leave out --rule of tables bounds",
    )
    found: dict[int, Interval] = {}
    is_told = False
    row = release.size
    for concealed, margin in zip(release.concealed, release.constraints.margins, strict=True):
        is_base = margin.lower.size == release.size
        is_told |= is_base
        cells = np.flatnonzero(concealed)
        if is_base:
            found |= _intervals(base, cells, 0)
        elif len(cells):
            solved = bounding.closed_sums(release.constraints, margin) or bounding.searched_sums(
                release.constraints, margin, most_programs, progress
            )
            found |= _intervals(solved, cells, row)
        row += margin.lower.size
    if not is_told:
        found |= _intervals(base, np.arange(release.size), 0)
    if release.assumed:
        found = {cell: one.doubted() for cell, one in found.items()}
    return found


def _intervals(solved: bounding.Solved, cells: np.ndarray, first: int) -> dict[int, Interval]:
    lower, upper, tight = (
        of.reshape(-1)[cells] for of in (solved.lower, solved.upper, solved.tight)
    )
    found: dict[int, Interval] = {}
    for cell, low, high, is_tight in zip(
        cells.tolist(), lower.tolist(), upper.tolist(), tight.tolist(), strict=True
    ):
        ends = Fraction(low), None if high >= UNBOUNDED else Fraction(high)
        reached = ends if is_tight else (None, None)
        found[first + cell] = Interval(*ends, *reached, is_tight and high >= UNBOUNDED)
    return found


@dataclass(frozen=True, repr=False)
class TableBounds(Result):
    """Lower and upper bounds of every cell, and whether they are the tightest there are.

    - `lower`, `upper`: the bounds; `UNBOUNDED` where nothing limits a cell from above.
    - `tight`: whether tables that agree with the release are known to attain both bounds of a cell.
    - `standings`: of the rules that were named; cells are numbered by rows, then those of margins.
    - `assumed`: the axes on which labels could be sums of others, and nobody said that none is:
      then nothing is known to be tight, and the bounds hold if none is.
    - `cells`: of tables with subtotals, or several, the cell that each bound is of.
    - `scale`: by how much bounds of values were multiplied to be whole.
    """

    axes: tuple[Axis, ...]
    lower: Integers
    upper: Integers
    tight: NDArray[np.bool_]
    why: str
    provenance: Provenance
    standings: tuple[RuleStanding, ...] = ()
    assumed: tuple[AssumedDisjoint, ...] = ()
    cells: PublishedCells | None = None
    scale: int = 1

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return self.lower.size

    @property
    def n_known(self) -> int:
        """How many cells have one possible count."""
        return int(np.count_nonzero(self.lower == self.upper))

    @property
    def n_zeros(self) -> int:
        """How many cells are certainly empty."""
        return int(np.count_nonzero((self.upper == 0) & (self.lower == 0)))

    @property
    def is_met(self) -> bool:
        """Whether every rule that was named is proven to hold."""
        return all(one.is_met for one in self.standings)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "cells": self.n_cells,
            "known_exactly": self.n_known,
            "certainly_empty": self.n_zeros,
            "without_limit": int(np.count_nonzero(self.upper >= UNBOUNDED)),
            "tight": int(np.count_nonzero(self.tight)),
            "rules": len(self.standings),
            "rules_met": sum(one.is_met for one in self.standings),
            "method": self.provenance.variant,
            **bounding.assumed_summary(self.assumed),
        }

    def sentences(self, most: int = 6) -> list[str]:
        """Return what the bounds say, in words; on each axis, so many labels to ask about."""
        limited = self.upper < UNBOUNDED
        are = be(self.n_zeros)
        said = [
            (
                f"Of {count_of(self.n_cells, 'cell')}, {self.n_known:,} can be worked out exactly, and"
                f" {self.n_zeros:,} {are} certainly empty."
            )
        ]
        open_ = limited & (self.lower < self.upper)
        if open_.any():
            cells = count_of(int(np.count_nonzero(open_)), "cell has", "cells have")
            widths = (self.upper - self.lower)[open_]
            words = _range(widths) if self.is_count else _width(widths, self.scale)
            said.append(f"{cells} {words}.")
        if not limited.all():
            n_open = self.n_cells - int(np.count_nonzero(limited))
            what = "count" if self.is_count else "figure"
            said.append(
                f"{count_of(n_open, 'cell')} could have any {what} from the lower bound up."
            )
        said.append(self.why)
        said += [] if self.cells is None else self.cells.sentences()
        for one in self.standings:
            said += [one.sentence(), *one.notes]
        what = "Whether these bounds hold, and are tight,"
        said[0] = bounding.under_assumption(said[0], what, self.provenance)
        return [
            *said,
            *(
                bounding.possible_sums_words(self.assumed, bounding.HOW_IN_BOUNDS, most)
                if most
                else []
            ),
        ]

    def to_arrow(self) -> pa.Table:
        """Return one row per cell: its categories, bounds, and whether they are tight."""
        require_listing(self.n_cells, len(self.axes))
        return self._rows(np.arange(self.n_cells))

    def _rows(self, cells: Integers) -> pa.Table:
        if self.cells is None:
            columns, numbers = category_columns(self.axes, cells), cells.tolist()
        else:
            columns, numbers = self.cells.columns(cells), self.cells.numbers[cells].tolist()
        lower, upper = (ends.reshape(-1)[cells] for ends in (self.lower, self.upper))
        taken = {name.lower() for name in columns}
        for name, values in (
            ("lower", self._ends(lower, lower <= -UNBOUNDED)),
            ("upper", self._ends(upper, upper >= UNBOUNDED)),
            ("tight", pa.array(self.tight.reshape(-1)[cells])),
            *(
                [("rules", pa.array(failing_rules(self.standings, numbers), pa.string()))]
                if self.standings
                else []
            ),
        ):
            columns[name if name not in taken else f"{name}_bound"] = values
        return pa.table(columns)

    @property
    def is_count(self) -> bool:
        """Whether figures are counts."""
        return self.cells is None or self.cells.tables.whole

    def _ends(self, ends: Integers, endless: NDArray[np.bool_]) -> Any:
        return pa.array(ends if self.is_count else ends / self.scale, mask=endless)

    def top(self, n: int) -> pa.Table:
        """Return the cells that are known best: the narrowest intervals, of these the smallest."""
        width = np.where(self.upper >= UNBOUNDED, UNBOUNDED, self.upper - self.lower).reshape(-1)
        cells = np.arange(width.size)
        if n < width.size:
            # Few of many: only cells that could be among them are sorted.
            cells = np.flatnonzero(width <= np.partition(width, n)[n])
        order = np.lexsort((cells, self.lower.reshape(-1)[cells], width[cells]))
        return self._rows(cells[order[:n]])

    def plot(self) -> Figure:
        """Draw the interval of each cell, the narrowest first; needs no display."""
        from gamekeeper.attack.tables.comparison import plot_bounds

        return plot_bounds(self)

    def _repr_html_(self) -> str:
        rows = self.summary().items()
        return table_html(("measure", "value"), rows, caption=type(self).__name__)


@takes(BoundsInput)
def bound_cells(release: Release | TableSet, asked: BoundsInput) -> TableBounds:
    """Bound every cell of the base table, given all that is published.

    Of tables with subtotals, or with values, those cells are bounded that some table has.

    Examples
    --------
    >>> from gamekeeper.data.tables.count_table import CountTable
    >>> from gamekeeper.data.tables.release import make_release
    >>> table = CountTable.typed({"sex": ["m", "f"], "work": ["yes", "no"]}, [[3, 0], [2, 1]])
    >>> release = make_release(table, [("sex",), ("work",)], "exact")
    >>> found = bound_cells(release)
    >>> found.lower.tolist(), found.upper.tolist()
    ([[2, 0], [2, 0]], [[3, 1], [3, 1]])
    """
    if isinstance(release, TableSet):
        return _bounds_of_tables(release, asked)
    if asked.says or asked.tolerance or asked.negative or asked.max_seconds is not None:
        raise InputError(
            Reason.BAD_OPTION,
            "Bounds on the cells of a release were asked for.",
            "What statuses tell, tolerances, figures below 0 and a limit of time are for published tables"
            " that were put together.",
            "Put them together with gk.tables.TableSet.of, or leave these out.",
        )
    return bounds_of_release(release, asked)


def bounds_of_release(release: Release, asked: BoundsInput) -> TableBounds:
    """Bound every cell of the base table of a release."""
    started = time.perf_counter()
    rules = read_rules(asked.rules)
    words = "Bounds on the cells of a release were asked for."
    bounding.require_cells(release, words)
    require_bounds(release.size)
    with bounding.consistent(release, words):
        solved = bounding.solve_bounds(
            release.constraints,
            BoundsMethod(asked.method),
            asked.most_programs,
            asked.max_nodes,
            asked.progress,
        )
        standings = judge_release(release, rules, solved, asked.most_programs, asked.progress)
    return _bounds(release, release.axes, solved, started, standings)


def _bounds_of_tables(tables: TableSet, asked: BoundsInput) -> TableBounds:
    """Bound every cell that some table has, whether it is shown, perturbed or hidden."""
    started = time.perf_counter()
    rules = read_rules(asked.rules)
    _require_searched(asked)
    cells = PublishedCells.of(tables)
    seen = examined(tables, asked, cells.numbers.tolist())
    known = seen.known
    lower = np.full(len(cells.numbers), -UNBOUNDED, np.int64)
    upper = np.full(len(cells.numbers), UNBOUNDED, np.int64)
    tight = np.zeros(len(cells.numbers), np.bool_)
    for at, cell in enumerate(cells.numbers.tolist()):
        own = seen.assumed_intervals.get(cell)
        if own is None:
            lower[at] = upper[at] = known.values[cell]
            tight[at] = True
            continue
        lower[at] = lower[at] if own.low is None else math.floor(own.low * known.scale)
        upper[at] = upper[at] if own.high is None else math.ceil(own.high * known.scale)
        tight[at] = seen.intervals[cell].is_tight
    hidden = {cell: seen.intervals[cell] for cell in tables.hidden.tolist()}
    standings = judge(
        rules, hidden, tables, signed=known.is_signed, unexamined=seen.rounding.left_out
    )
    return TableBounds(
        (),
        lower,
        upper,
        tight,
        _why_of_tables(seen, tight),
        Provenance(
            "bounds on cells",
            "linear and integer programs" if known.facts.whole else "linear programs",
            {
                **facts_told(tables, seen.search),
                **texts_of(asked, "rules", "tolerance", "negative"),
                **bounding.assumed_summary(seen.assumed),
            },
            fingerprint=tables.fingerprint,
            seconds=time.perf_counter() - started,
        ),
        tuple(standings),
        seen.assumed,
        replace(cells, notices=known.notices),
        known.scale,
    )


def _require_searched(asked: BoundsInput) -> None:
    """Refuse what only a table without subtotals takes."""
    is_chosen = asked.method != BoundsMethod.AUTO
    if is_chosen or asked.max_nodes is not None or asked.most_programs is not None:
        raise InputError(
            Reason.BAD_OPTION,
            "Bounds on the cells of published tables were asked for.",
            "Methods, and limits of programs and of the shuttle, are for tables without subtotals.",
            "Leave out --method, --most-programs and --max-nodes; --max-seconds limits the time.",
        )


def _why_of_tables(seen: Examined, tight: NDArray[np.bool_]) -> str:
    n_left = int(np.count_nonzero(~tight))
    said = "The bounds are tight: figures that attain them were found."
    if seen.assumed:
        return "If no label is the sum of others, these bounds hold."
    if n_left:
        said = f"The bounds of {count_of(n_left, 'cell')} hold, but need not be tight"
        said += ": the search was stopped." if seen.is_stopped else "."
    if seen.rounding and not seen.rounding.tolerance:
        words = seen.rounding.words
        said = f"{words[0].upper()}{words[1:]}. {seen.rounding.way_around} {said}"
    return said


@dataclass(frozen=True, eq=False, repr=False)
class PublishedCells:
    """The cells that some of several published tables have, in the order of their rows.

    `notices` are what to know of what is taken for granted of them.
    """

    tables: TableSet
    numbers: Integers
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, tables: TableSet) -> PublishedCells:
        """Return the cells with a row, and those that have none beside others that have."""
        rows = np.concatenate(tables.system.tables[: len(tables.tables)])
        numbers, first = np.unique(rows, return_index=True)
        absent = np.flatnonzero(tables.system.kinds == Kind.ABSENT)
        more = absent[~np.isin(absent, numbers)]
        return cls(tables, np.concatenate([numbers[np.argsort(first, kind="stable")], more]))

    def columns(self, places: Integers) -> dict[str, Any]:
        """Return the labels of some of them, and what is published of them."""
        cells = self.numbers[places].tolist()
        labels = [self.tables.labels_of(cell) for cell in cells]
        made = {
            name: pa.array([row[at] for row in labels], pa.string())
            for at, name in enumerate(self.tables.axes)
        }
        name = "published" if "published" not in made else "published_figure"
        return {**made, name: pa.array([self._printed(cell) for cell in cells], pa.string())}

    def _printed(self, cell: int) -> str | None:
        figure = self.tables.figures[cell]
        return printed_text(self.tables, cell) or (None if figure is None else figure_text(figure))

    def sentences(self) -> list[str]:
        """Return what was not bounded."""
        nodes = self.tables.system.nodes[self.numbers]
        is_finest = np.ones(len(nodes), bool)
        for at, axis in enumerate(self.tables.system.axes):
            is_finest &= axis.is_atom[nodes[:, at]]
        left = math.prod(axis.n_atoms for axis in self.tables.system.axes) - int(is_finest.sum())
        if not left:
            return []
        what = count_of(
            left, "finest cell that no table has was", "finest cells that no table has were"
        )
        return [f"{what} not bounded."]


@takes(RecodedInput)
def bound_recoded(release: Release, asked: RecodedInput) -> TableBounds:
    """Bound the cells of a table made of the base table by joining categories or summing out axes.

    `groups` has, for some axes, the new categories, each with the base categories that it joins.
    With no axes to keep, the total is left.
    """
    started = time.perf_counter()
    axes, numbers = _recoded_axes(release.axes, asked.groups, asked.keep)
    blank = np.zeros([int(number.max()) + 1 for number in numbers], np.int64)
    margin = CountMargin(numbers, blank, blank)
    words = "Bounds on a recoded table were asked for."
    with bounding.consistent(release, words):
        solved = bounding.closed_sums(release.constraints, margin)
        if solved is None:
            bounding.require_cells(release, words)
            solved = bounding.searched_sums(
                release.constraints, margin, asked.most_programs, asked.progress
            )
    kept = tuple(axis for axis in axes if axis is not None)
    return _bounds(release, kept, solved, started)


def require_bounds(n_cells: int) -> None:
    """Refuse a table whose bounds cannot be held."""
    require_memory(
        "Bounds on the cells of a release were asked for.",
        n_cells * _CELL_BYTES,
        f"Those of {count_of(n_cells, 'cell')}",
        "Keep fewer axes (--keep of tables bounds), or join categories (--group of tables bounds)",
    )


def require_listing(n_cells: int, n_axes: int) -> None:
    """Refuse a table whose cells cannot be listed, with the words of every category."""
    require_memory(
        "Bounds of all cells were to be listed.",
        n_cells * (_CELL_BYTES + _WORD_BYTES * n_axes),
        f"{count_of(n_cells, 'cell')} with the names of {count_of(n_axes, 'category', 'categories')}"
        " each",
        "Look at the best known ones (--top of tables bounds), keep fewer axes (--keep of tables"
        " bounds), or join categories (--group of tables bounds)",
    )


def _range(widths: Integers) -> str:
    least, most = int(widths.min()) + 1, int(widths.max()) + 1
    each = "" if len(widths) == 1 else " each"
    if least == most:
        return f"{least:,} possible counts{each}"
    return f"{least:,} to {most:,} possible counts{each}, {digits_text(np.median(widths) + 1)} at the median"


def _width(widths: Integers, scale: int) -> str:
    least, most = (digits_text(float(end) / scale) for end in (widths.min(), widths.max()))
    return (
        f"an interval that is {least} wide"
        if least == most
        else f"intervals {least} to {most} wide"
    )


def _recoded_axes(
    axes: Sequence[Axis], groups: Groups, keep: Sequence[str] | None
) -> tuple[list[Axis | None], tuple[Integers, ...]]:
    """Return the axes of the recoded table (None: summed out), and the group of each category."""
    names = [axis.name for axis in axes]
    problems = unknown_axes((*groups, *(keep or ())), names, "is not in the release.")
    made: list[Axis | None] = []
    numbers: list[Integers] = []
    for axis in axes:
        if keep is not None and axis.name not in keep:
            made.append(None)
            numbers.append(np.zeros(len(axis.categories), np.int64))
            continue
        joined = groups.get(axis.name)
        if joined is None:
            made.append(axis)
            numbers.append(np.arange(len(axis.categories), dtype=np.int64))
            continue
        of = {name: number for number, part in enumerate(joined.values()) for name in part}
        given = [name for part in joined.values() for name in part]
        wrong = sorted(set(given) ^ set(axis.categories))
        if wrong or len(given) != len(set(given)):
            problems.append(
                Problem(
                    Reason.NOT_A_CATEGORIZATION,
                    f"axis {quoted([axis.name])}",
                    "its groups do not have every category exactly once"
                    + (f" (see {quoted(wrong)})." if wrong else "."),
                )
            )
            continue
        made.append(Axis(axis.name, tuple(joined)))
        numbers.append(np.array([of[name] for name in axis.categories], np.int64))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Bounds on a recoded table were asked for.",
            f"{count_of(len(problems), 'axis', 'axes')} cannot be recoded so.",
            problems=problems,
        )
    return made, tuple(numbers)


def _bounds(
    release: Release,
    axes: tuple[Axis, ...],
    solved: bounding.Solved,
    started: float,
    standings: tuple[RuleStanding, ...] = (),
) -> TableBounds:
    shape = tuple(map(len, axes))
    return TableBounds(
        axes,
        solved.lower.reshape(shape),
        solved.upper.reshape(shape),
        (solved.tight & (not release.assumed)).reshape(shape),
        f"If no label is the sum of others: {solved.why}" if release.assumed else solved.why,
        Provenance(
            "bounds on cells",
            solved.method,
            {
                "published": str(len(release.published)),
                "cells": str(math.prod(release.constraints.shape)),
                **({"rules": ", ".join(one.rule for one in standings)} if standings else {}),
                **bounding.assumptions(release),
            },
            fingerprint=release.fingerprint,
            seconds=time.perf_counter() - started,
        ),
        standings,
        release.assumed,
    )
