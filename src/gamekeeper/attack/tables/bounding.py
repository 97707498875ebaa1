"""How bounds of a release are found: the method, what is assumed, counts that contradict others.

The way is the cheapest that is exact for the constraints at hand. A single table without margins
binds each cell by its own count. Exact margins that form a decomposable model have a closed form
(Dobra and Fienberg 2000); where they do not, the parts that cannot be decomposed further are solved
and put together. Anything else is solved by the generalized shuttle algorithm, where there are many
short axes, or by integer programs.

A contradiction is told with published counts that cannot hold together.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin
from gamekeeper.attack.tables.options import BoundsMethod
from gamekeeper.data.tables.count_table import MOST_DENSE, CountTable
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.subtotals import AssumedDisjoint, could_be_sums
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.results import Progress, Provenance
from gamekeeper.wording import count_of, digits_text, quoted

if TYPE_CHECKING:
    from gamekeeper.algorithms.bounds.integer_bounds import IntegerBounds

Integers = NDArray[np.int64]
_SHOWN = 6
# Finding a smallest conflict solves a program for every count; beyond this the rows that a method
# has met are told instead.
_MOST_CELLS = 100_000
_MOST_SECONDS = 30.0
_SHUTTLE_NODES, _SHUTTLE_STEPS = 10_000, 2_000


def assumptions(release: Release, truth: CountTable | None = None) -> dict[str, str]:
    """Return the axes that were said to be disjoint in spite of their labels, or assumed to be.

    Where the truth is known, it may tell of an axis that no label is the sum of others.

    Examples
    --------
    >>> codes = {"code": ["A", "A01", "A02"]}
    >>> table = {"margin": ["code"], "counts": [5, 3, None]}
    >>> assumptions(Release.typed(codes, [table], disjoint=["code"]))
    {'disjoint': 'code'}
    """
    return {
        **({"disjoint": ", ".join(release.doubted)} if release.doubted else {}),
        **assumed_summary([one for one in release.assumed if _is_left_open(one.axis, truth)]),
    }


def _is_left_open(name: str, truth: CountTable | None) -> bool:
    """Whether true counts, where they are known, leave it possible that labels of an axis are sums."""
    if truth is None:
        return True
    at = truth.names.index(name)
    counts = np.moveaxis(truth.dense(), at, -1).reshape(-1, len(truth.axes[at])).astype(float)
    none = np.full(len(counts), -np.inf)
    return could_be_sums(truth.axes[at], counts, counts, none) is not None


def assumed_summary(assumed: Sequence[AssumedDisjoint]) -> dict[str, str]:
    """Return the axes that were taken to be disjoint without anybody saying so."""
    return {"assumed_disjoint": ", ".join(one.axis for one in assumed)} if assumed else {}


def under_assumption(said: str, what: str, provenance: Provenance) -> str:
    """Return a sentence after what is not known because of an assumption, and the assumption.

    Examples
    --------
    >>> found = Provenance("bounds", parameters={"assumed_disjoint": "area"})
    >>> print(under_assumption("None is known.", "What is hidden", found))
    What is hidden is not known: labels of 'area' may be sums of others. If none is (--disjoint area): None is known.
    """
    axes = provenance.parameters.get("assumed_disjoint", "")
    if not axes:
        return said
    return (
        f"{what} is not known: labels of {quoted(axes.split(', '))} may be sums of others. If none is"
        f" (--disjoint {axes.replace(', ', ',')}): {said}"
    )


HOW_IN_AUDITS = (
    "Say how labels add up (--hierarchy of tables audit), or that nobody is counted under two of them"
    " (--disjoint)."
)
HOW_IN_BOUNDS = (
    "Say how labels add up (--hierarchy of tables bounds), or that nobody is counted under two of them"
    " (--disjoint)."
)


def possible_sums_words(
    assumed: Sequence[AssumedDisjoint], how: str, most: int = _SHOWN
) -> list[str]:
    """Return labels that could be sums of others, some of them in words, and how a person answers."""
    said: list[str] = []
    for one in assumed:
        where = f"On axis {quoted([one.axis])}"
        # What could be the same as one other is less likely meant than what could be a sum.
        order = sorted(one.sums, key=lambda own: len(own.parts) == 1)
        said += [f"{where}, {own}" for own in order[:most]]
        if len(order) > most:
            said.append(f"{where}, {count_of(len(order) - most, 'more label')} could be sums.")
        if not one.is_all:
            said.append(f"{where}, there are too many labels to look at all of them.")
    return [*said, how] if said else []


@contextmanager
def consistent(release: Release, asked: str) -> Generator[None]:
    """Turn a contradiction into one error with an irreducible set of published counts."""
    try:
        yield
    except NoNumbersError as error:
        raise _conflict(release, asked, error) from None


def require_cells(release: Release, asked: str) -> None:
    """Refuse a base table with more cells than can be held, however few people are in it."""
    if release.size <= MOST_DENSE:
        return
    raise LimitError(
        Reason.TOO_LARGE,
        asked,
        f"The base table has {count_of(len(release.axes), 'axis', 'axes')} and {release.size:,}"
        f" cells; the limit is {MOST_DENSE:,}.",
        "Attack tables that share variables together and others apart, leave out variables that no"
        " published table has, or join categories.",
    )


def _conflict(release: Release, asked: str, error: NoNumbersError) -> InputError:
    from gamekeeper.algorithms.bounds.integer_bounds import Conflict, find_conflict

    constraints = release.constraints
    met = Conflict(tuple(error.rows), is_irreducible=False)
    if constraints.size <= _MOST_CELLS:
        # That no table agrees is known, even if it is not found in time which counts are to blame.
        with suppress(LimitError):
            met = find_conflict(constraints, max_seconds=_MOST_SECONDS)
    found = "No table of counts agrees with it"
    if met.rows:
        found += f": {count_of(len(met.rows), 'published count')} contradict each other"
    if met.is_irreducible:
        found += ", and without any one of them the others could hold"
    elif constraints.size <= _MOST_CELLS:
        found += (
            f". There was no time to find {'fewer' if met.rows else 'those to blame'}"
            f" ({digits_text(_MOST_SECONDS)} seconds)"
        )
    problems = [
        Problem(Reason.CONFLICTING_COUNTS, release.row_words(row), "cannot hold with the others.")
        for row in met.rows
    ]
    return InputError(
        Reason.CONFLICTING_COUNTS,
        asked,
        f"{found}.",
        f"Check {'these' if met.rows else 'the published'} counts, the schemes they are said to be"
        " perturbed by, and whether a label is the sum of others.",
        problems=problems,
    )


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
    from gamekeeper.algorithms.releases.structure import release_structure, require_agreement

    margins = constraints.margins
    if all(margin.lower.size == constraints.size for margin in margins):
        require_agreement(constraints)
        lower, upper = constraints.cell_limits()
        if np.any(lower > upper):
            raise NoNumbersError
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
    from gamekeeper.algorithms.bounds.frechet import closed_sum_bounds

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
