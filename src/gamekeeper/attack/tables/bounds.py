"""Bounds on the cells of a table, given everything that is published about it.

Three exact ways, and the cheapest that applies is chosen. A single table without margins binds
each cell by its own count. Exact margins that form a decomposable model have a closed form (Dobra
and Fienberg 2000); where they do not, the parts that cannot be decomposed further are solved and
put together. Anything else is solved by the generalized shuttle algorithm, where there are many short
axes, or by integer programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.count_constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.attack.tables.conflicts import consistent
from gamekeeper.data.release import Release
from gamekeeper.data.table_axes import Axis
from gamekeeper.errors import InputError, Problem, Reason, count_of, did_you_mean, quoted
from gamekeeper.results import Progress, Provenance, Result

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

__all__ = ["BoundsMethod", "TableBounds", "bound_cells", "bound_recoded"]

Integers = NDArray[np.int64]
Groups = Mapping[str, Mapping[str, Sequence[str]]]
_SHUTTLE_NODES, _SHUTTLE_STEPS = 10_000, 2_000


class BoundsMethod(StrEnum):
    """How bounds are found."""

    AUTO = "auto"
    CLOSED = "closed"
    SHUTTLE = "shuttle"
    INTEGER = "integer"


@dataclass(frozen=True, repr=False)
class TableBounds(Result):
    """Lower and upper bounds of every cell, and whether they are the tightest there are.

    Attributes
    ----------
    axes
        The axes of the table, with their categories.
    lower, upper
        The bounds; `UNBOUNDED` where nothing limits a cell from above.
    tight
        Whether both bounds of a cell are known to be attained by a table that agrees with the
        release.
    why
        Why they are tight, or are not known to be, in words.
    """

    axes: tuple[Axis, ...]
    lower: Integers
    upper: Integers
    tight: NDArray[np.bool_]
    why: str
    provenance: Provenance

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
        return int(np.count_nonzero(self.upper == 0))

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "cells": self.n_cells,
            "known_exactly": self.n_known,
            "certainly_empty": self.n_zeros,
            "without_limit": int(np.count_nonzero(self.upper >= UNBOUNDED)),
            "tight": int(np.count_nonzero(self.tight)),
            "method": self.provenance.variant,
        }

    def sentences(self) -> list[str]:
        """Return what the bounds say, in words."""
        limited = self.upper < UNBOUNDED
        are = "is" if self.n_zeros == 1 else "are"
        said = [
            (
                f"Of {count_of(self.n_cells, 'cell')}, {self.n_known:,} can be worked out exactly, and"
                f" {self.n_zeros:,} {are} certainly empty."
            ),
        ]
        open_ = limited & (self.lower < self.upper)
        if open_.any():
            cells = count_of(int(np.count_nonzero(open_)), "cell has", "cells have")
            said.append(f"{cells} {_range((self.upper - self.lower)[open_])}.")
        if not limited.all():
            n_open = self.n_cells - int(np.count_nonzero(limited))
            said.append(f"{count_of(n_open, 'cell')} could have any count from the lower bound up.")
        said.append(self.why)
        return said

    def to_arrow(self) -> pa.Table:
        """Return one row per cell: its categories, bounds, and whether they are tight."""
        import pyarrow as pa

        numbers = np.unravel_index(np.arange(self.n_cells), self.lower.shape)
        columns: dict[str, Any] = {
            axis.name: pa.DictionaryArray.from_arrays(
                pa.array(codes.astype(np.int32)), pa.array(list(axis.categories), pa.string())
            ).dictionary_decode()
            for axis, codes in zip(self.axes, numbers, strict=True)
        }
        upper = self.upper.reshape(-1)
        taken = {name.lower() for name in columns}
        for name, values in (
            ("lower", pa.array(self.lower.reshape(-1))),
            ("upper", pa.array(upper, mask=upper >= UNBOUNDED)),
            ("tight", pa.array(self.tight.reshape(-1))),
        ):
            columns[name if name not in taken else f"{name}_bound"] = values
        return pa.table(columns)

    def top(self, n: int) -> pa.Table:
        """Return the cells that are known best: the narrowest intervals, of these the smallest."""
        width = np.where(self.upper >= UNBOUNDED, UNBOUNDED, self.upper - self.lower).reshape(-1)
        order = np.lexsort((np.arange(width.size), self.lower.reshape(-1), width))
        return self.to_arrow().take(order[:n])

    def plot(self) -> Figure:
        """Draw the interval of each cell, the narrowest first; needs no display."""
        from gamekeeper.attack.tables.plots import plot_bounds

        return plot_bounds(self)

    def _repr_html_(self) -> str:
        from gamekeeper.results import table_html

        rows = self.summary().items()
        return table_html(("measure", "value"), rows, caption=type(self).__name__)


def bound_cells(
    release: Release,
    *,
    method: BoundsMethod | str = BoundsMethod.AUTO,
    most_programs: int | None = None,
    max_nodes: int | None = None,
    progress: Progress | None = None,
) -> TableBounds:
    """Bound every cell of the base table, given all that is published.

    Parameters
    ----------
    release
        Everything published about the table.
    method
        By default the cheapest that is exact. `closed` asks for the closed form, `shuttle` for the
        generalized shuttle algorithm with trial tightening, `integer` for integer programs.
    most_programs
        Stop after so many programs; what is not settled then has bounds that need not be tight.
    max_nodes
        Lifts the limit of the shuttle algorithm.

    Examples
    --------
    >>> from gamekeeper.data.count_table import CountTable
    >>> from gamekeeper.data.release import make_release
    >>> table = CountTable.typed({"sex": ["m", "f"], "work": ["yes", "no"]}, [[3, 0], [2, 1]])
    >>> release = make_release(table, [("sex",), ("work",)], "exact")
    >>> found = bound_cells(release)
    >>> found.lower.tolist(), found.upper.tolist()
    ([[2, 0], [2, 0]], [[3, 1], [3, 1]])
    """
    started = time.perf_counter()
    asked = BoundsMethod(method)
    constraints = release.constraints
    with consistent(release, "Bounds on the cells of a release were asked for."):
        solved = _solved(constraints, asked, most_programs, max_nodes, progress)
    return TableBounds(
        release.axes,
        solved.lower,
        solved.upper,
        solved.tight,
        solved.why,
        _provenance(release, solved.method, started),
    )


def bound_recoded(
    release: Release,
    groups: Groups,
    *,
    keep: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> TableBounds:
    """Bound the cells of a table made of the base table by joining categories or summing out axes.

    Parameters
    ----------
    groups
        For some axes the new categories, each with the base categories that it joins.
    keep
        The axes to keep; all by default. The others are summed out.
    """
    from gamekeeper.algorithms.integer_bounds import sum_bounds
    from gamekeeper.algorithms.recoded_bounds import closed_sum_bounds

    started = time.perf_counter()
    axes, numbers = _recoded_axes(release.axes, groups, keep)
    blank = np.zeros([int(number.max()) + 1 for number in numbers], np.int64)
    margin = CountMargin(numbers, blank, blank)
    with consistent(release, "Bounds on a recoded table were asked for."):
        closed = closed_sum_bounds(release.constraints, numbers)
        found = None
        if closed is None:
            found = sum_bounds(release.constraints, margin, progress=progress)
    kept = tuple(axis for axis in axes if axis is not None)
    shape = tuple(len(axis.categories) for axis in kept)
    if found is None:
        assert closed is not None
        return TableBounds(
            kept,
            closed[0].reshape(shape),
            closed[1].reshape(shape),
            np.ones(shape, np.bool_),
            "The bounds are tight: the margins are exact and form a decomposable model that the"
            " recoded table keeps.",
            _provenance(release, "closed form", started),
        )
    return TableBounds(
        kept,
        found.lower.reshape(shape),
        found.upper.reshape(shape),
        found.tight.reshape(shape),
        _integer_why(found.tight),
        _provenance(release, "integer programs", started),
    )


@dataclass(frozen=True, slots=True)
class _Solved:
    lower: Integers
    upper: Integers
    tight: NDArray[np.bool_]
    method: str
    why: str


def _solved(
    constraints: CountConstraints,
    asked: BoundsMethod,
    most_programs: int | None,
    max_nodes: int | None,
    progress: Progress | None,
) -> _Solved:
    if asked is BoundsMethod.SHUTTLE:
        return _by_shuttle(constraints, max_nodes, progress)
    if asked in (BoundsMethod.AUTO, BoundsMethod.CLOSED):
        found = _in_closed_form(constraints, most_programs, progress)
        if found is not None:
            return found
        if asked is BoundsMethod.CLOSED:
            raise InputError(
                Reason.BAD_OPTION,
                "Bounds in closed form were asked for.",
                "They exist for exact margins that form a decomposable model, and for a single table.",
                "Use the method 'auto' or 'integer'.",
            )
    if asked is BoundsMethod.INTEGER:
        return _by_programs(constraints, most_programs, progress)
    return _searched(constraints, most_programs, progress)


def _in_closed_form(
    constraints: CountConstraints, most_programs: int | None, progress: Progress | None
) -> _Solved | None:
    from gamekeeper.algorithms.count_constraints import NoTableError
    from gamekeeper.algorithms.frechet_bounds import closed_bounds, component_bounds
    from gamekeeper.algorithms.margin_agreement import require_agreement
    from gamekeeper.algorithms.release_structure import release_structure

    margins = constraints.margins
    if all(margin.lower.size == constraints.size for margin in margins):
        require_agreement(constraints)
        lower, upper = constraints.cell_limits()
        if np.any(lower > upper):
            raise NoTableError
        return _Solved(
            lower,
            upper,
            np.ones(constraints.shape, np.bool_),
            "single table",
            "The bounds are tight: no published sum ties cells together.",
        )
    structure = release_structure(constraints)
    if structure.decomposable:
        lower, upper = closed_bounds(constraints)
        return _Solved(
            lower,
            upper,
            np.ones(constraints.shape, np.bool_),
            "closed form",
            "The bounds are tight: the margins are exact and form a decomposable model.",
        )
    if len(structure.components) < 2 and not structure.free:
        return None
    settled: list[bool] = []

    def solve(part: CountConstraints) -> tuple[Integers, Integers]:
        found = _searched(part, most_programs, progress)
        settled.append(bool(found.tight.all()))
        return found.lower, found.upper

    lower, upper = component_bounds(constraints, solve)
    tight = all(settled)
    return _Solved(
        lower,
        upper,
        np.full(constraints.shape, tight),
        count_of(len(structure.components), "irreducible component"),
        "The bounds are tight: what separates the parts is exact, each part that cannot be"
        " decomposed further was solved by a search, and the parts are put together in"
        " closed form."
        if tight
        else "The bounds hold, but need not be tight: the limit on programs was reached.",
    )


def _searched(
    constraints: CountConstraints, most_programs: int | None, progress: Progress | None
) -> _Solved:
    """Return bounds by the shuttle where there are many short axes, and else by programs.

    Measured on sixty releases: with four axes or fewer, programs are as fast or faster; with more,
    the shuttle is up to fifteen times as fast while its sums are some thousands.
    """
    from gamekeeper.algorithms.integer_bounds import integer_bounds
    from gamekeeper.algorithms.shuttle import node_count

    n_axes = sum(length > 1 for length in constraints.shape)
    if most_programs is not None or n_axes < 5 or node_count(constraints.shape) > _SHUTTLE_NODES:
        return _by_programs(constraints, most_programs, progress)
    found = _by_shuttle(constraints, None, progress, max_steps=_SHUTTLE_STEPS)
    if found.tight.all():
        return found
    rest = integer_bounds(
        constraints,
        cells=np.flatnonzero(~found.tight),
        lower=found.lower,
        upper=found.upper,
        progress=progress,
    )
    tight = found.tight | rest.tight
    return _Solved(
        rest.lower, rest.upper, tight, "shuttle and integer programs", _integer_why(tight)
    )


def _by_programs(
    constraints: CountConstraints, most_programs: int | None, progress: Progress | None
) -> _Solved:
    from gamekeeper.algorithms.integer_bounds import integer_bounds

    found = integer_bounds(constraints, max_programs=most_programs, progress=progress)
    return _Solved(
        found.lower, found.upper, found.tight, "integer programs", _integer_why(found.tight)
    )


def _range(widths: Integers) -> str:
    least, most = int(widths.min()) + 1, int(widths.max()) + 1
    each = "" if len(widths) == 1 else " each"
    if least == most:
        return f"{least:,} possible counts{each}"
    return f"{least:,} to {most:,} possible counts{each}, {np.median(widths) + 1:,g} at the median"


def _integer_why(tight: NDArray[np.bool_]) -> str:
    if tight.all():
        return "The bounds are tight: tables that attain them were found by integer programs."
    open_ = tight.size - int(np.count_nonzero(tight))
    return (
        f"The bounds of {count_of(open_, 'cell')} hold, but need not be tight: programs reached their"
        " limit, or counts were too large for a proof."
    )


def _by_shuttle(
    constraints: CountConstraints,
    max_nodes: int | None,
    progress: Progress | None,
    *,
    max_steps: int | None = None,
) -> _Solved:
    from gamekeeper.algorithms.shuttle import MAX_NODES, MAX_STEPS, Shuttle

    shuttle = Shuttle(constraints, max_nodes=MAX_NODES if max_nodes is None else max_nodes)
    shuttle.run(progress=progress)
    found = shuttle.tighten(
        max_steps=MAX_STEPS if max_steps is None else max_steps, progress=progress
    )
    tight = found.tight_lower & found.tight_upper
    why = (
        f"The bounds are tight: the shuttle algorithm settled {shuttle.n_nodes:,} sums of cells in"
        f" {count_of(shuttle.sweeps, 'sweep')}, and trial tightening found tables that attain them."
        if tight.all()
        else "The bounds hold, but those of"
        f" {count_of(int(np.count_nonzero(~tight)), 'cell')} need not be tight: the search was stopped."
    )
    return _Solved(found.lower, found.upper, tight, "generalized shuttle", why)


def _recoded_axes(
    axes: Sequence[Axis], groups: Groups, keep: Sequence[str] | None
) -> tuple[list[Axis | None], tuple[Integers, ...]]:
    """Return the axes of the recoded table (None: summed out), and the group of each category."""
    names = [axis.name for axis in axes]
    problems = [
        Problem(Reason.UNKNOWN_NAME, f"axis {quoted([name])}", "is not in the release.",
                did_you_mean(name, names))
        for name in (*groups, *(keep or ()))
        if name not in names
    ]  # fmt: skip
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


def _provenance(release: Release, method: str, started: float) -> Provenance:
    return Provenance(
        "bounds on cells",
        method,
        {
            "published": str(len(release.published)),
            "cells": str(math.prod(release.constraints.shape)),
        },
        fingerprint=release.fingerprint,
        seconds=time.perf_counter() - started,
    )
