"""The way bounds are found: the cheapest that is exact for the constraints at hand.

A single table without margins binds each cell by its own count. Exact margins that form a
decomposable model have a closed form (Dobra and Fienberg 2000); where they do not, the parts that
cannot be decomposed further are solved and put together. Anything else is solved by the generalized
shuttle algorithm, where there are many short axes, or by integer programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin
from gamekeeper.attack.tables.options import BoundsMethod
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    from gamekeeper.algorithms.bounds.integer_bounds import IntegerBounds

Integers = NDArray[np.int64]
_SHUTTLE_NODES, _SHUTTLE_STEPS = 10_000, 2_000


@dataclass(frozen=True, slots=True)
class Solved:
    """Bounds, whether they are tight, how they were found, and why that is so."""

    lower: Integers
    upper: Integers
    tight: NDArray[np.bool_]
    method: str
    why: str


def solve_bounds(
    constraints: CountConstraints,
    asked: BoundsMethod,
    most_programs: int | None,
    max_nodes: int | None,
    progress: Progress | None,
) -> Solved:
    """Return bounds by the method that is asked for, or by the cheapest that is exact."""
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
                "Use the method 'auto' or 'integer' (--method).",
            )
    if asked is BoundsMethod.INTEGER:
        return _by_programs(constraints, most_programs, progress)
    return _searched(constraints, most_programs, progress)


def _in_closed_form(
    constraints: CountConstraints, most_programs: int | None, progress: Progress | None
) -> Solved | None:
    from gamekeeper.algorithms.bounds.frechet import closed_bounds, component_bounds
    from gamekeeper.algorithms.releases.constraints import NoTableError
    from gamekeeper.algorithms.releases.margin_agreement import require_agreement
    from gamekeeper.algorithms.releases.structure import release_structure

    margins = constraints.margins
    if all(margin.lower.size == constraints.size for margin in margins):
        require_agreement(constraints)
        lower, upper = constraints.cell_limits()
        if np.any(lower > upper):
            raise NoTableError
        return Solved(
            lower,
            upper,
            np.ones(constraints.shape, np.bool_),
            "single table",
            "The bounds are tight: no published sum ties cells together.",
        )
    structure = release_structure(constraints)
    if structure.decomposable:
        lower, upper = closed_bounds(constraints)
        return Solved(
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
    return Solved(
        lower,
        upper,
        np.full(constraints.shape, tight),
        count_of(len(structure.components), "irreducible component"),
        "The bounds are tight: what separates the parts is exact, each part that cannot be"
        " decomposed further was solved by a search, and the parts are put together in"
        " closed form."
        if tight
        else "The bounds hold, but need not be tight: the limit on programs was reached, which"
        " most_programs (--most-programs of tables bounds and tables infer) raises.",
    )


def _searched(
    constraints: CountConstraints, most_programs: int | None, progress: Progress | None
) -> Solved:
    """Return bounds by the shuttle where there are many short axes, and else by programs.

    Measured on sixty releases: with four axes or fewer, programs are as fast or faster; with more,
    the shuttle is up to fifteen times as fast while its sums are some thousands.
    """
    from gamekeeper.algorithms.bounds.integer_bounds import MOST_PROGRAMS, integer_bounds
    from gamekeeper.algorithms.bounds.shuttle import node_count

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
        max_programs=MOST_PROGRAMS,
        progress=progress,
    )
    tight = found.tight | rest.tight
    return Solved(
        rest.lower, rest.upper, tight, "shuttle and integer programs", _integer_why(tight)
    )


def _by_programs(
    constraints: CountConstraints, most_programs: int | None, progress: Progress | None
) -> Solved:
    from gamekeeper.algorithms.bounds.integer_bounds import MOST_PROGRAMS, integer_bounds

    limit = MOST_PROGRAMS if most_programs is None else most_programs
    found = integer_bounds(constraints, max_programs=limit, progress=progress)
    return _programmed(found)


def closed_sums(constraints: CountConstraints, margin: CountMargin) -> Solved | None:
    """Return bounds of the sums over a margin in closed form; None where there is none."""
    from gamekeeper.algorithms.bounds.recoded import closed_sum_bounds

    closed = closed_sum_bounds(constraints, margin.groups)
    if closed is None:
        return None
    return Solved(
        *closed,
        np.ones(margin.shape, np.bool_),
        "closed form",
        "The bounds are tight: the margins are exact and form a decomposable model that the"
        " recoded table keeps.",
    )


def searched_sums(
    constraints: CountConstraints,
    margin: CountMargin,
    most_programs: int | None = None,
    progress: Progress | None = None,
) -> Solved:
    """Return bounds of the sums over a margin by programs."""
    from gamekeeper.algorithms.bounds.integer_bounds import MOST_PROGRAMS, sum_bounds

    limit = MOST_PROGRAMS if most_programs is None else most_programs
    found = sum_bounds(constraints, margin, max_programs=limit, progress=progress)
    return _programmed(found)


def _programmed(found: IntegerBounds) -> Solved:
    return Solved(
        found.lower, found.upper, found.tight, "integer programs", _integer_why(found.tight)
    )


def _integer_why(tight: NDArray[np.bool_]) -> str:
    if tight.all():
        return "The bounds are tight: tables that attain them were found by integer programs."
    open_ = tight.size - int(np.count_nonzero(tight))
    return (
        f"The bounds of {count_of(open_, 'cell')} hold, but need not be tight: programs reached their"
        " limit, which most_programs (--most-programs of tables bounds and tables infer) raises, or"
        " counts were too large for a proof."
    )


def _by_shuttle(
    constraints: CountConstraints,
    max_nodes: int | None,
    progress: Progress | None,
    *,
    max_steps: int | None = None,
) -> Solved:
    from gamekeeper.algorithms.bounds.shuttle import MAX_NODES, MAX_STEPS, Shuttle

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
        " --method integer goes on where it stops."
    )
    return Solved(found.lower, found.upper, tight, "generalized shuttle", why)
