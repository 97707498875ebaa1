"""The exact bounds of every cell of a table of counts, and which published rows contradict each other.

The bounds of a cell are the smallest and the largest count it has in any table of whole numbers
that satisfies the constraints; those of a sum of cells likewise. Linear programming bounds may be
wider. Two integer programs per cell would do, and do not scale: see `linear.component_search` for what
is done instead, and `linear.programs` for what of it is proven in whole numbers.

Buzzigoli and Giusti 1999; Dobra and Fienberg 2001; Smith's thesis, chapter 2. Deciding whether any
table exists is NP-hard from three axes on, so a limit of the effort can be set; what is not settled
by then has outer bounds and is marked as not tight.

With the limits of a margin replaced by the exact bounds of its sums the feasible tables are the
same, but a search that only looks at one row at a time then sees what follows from several: sums
over one margin that leave the total no choice, say. Without it, proving that a sample leaves no
other table can take a search over everything.

If no table satisfies the constraints, some rows among them conflict. A set of rows is irreducible
if no table satisfies it and removing any one row of it leaves a table. One such set is found by
halving (Junker 2004, QuickXplain): a set of k among n rows takes about 2k log2(n / k) + 2k
questions whether there is a table. Where two margins do not agree on what they share, that is told
at once, with fewer rows than any search is likely to find (`releases.structure`). Where real
numbers conflict, a certificate of the relaxation first cuts the rows down to a few (Farkas' lemma).
Cells are never below 0, and both limits of a row stand or fall together.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linear.component_search import ComponentSearch, SearchClock
from gamekeeper.algorithms.linear.components import components
from gamekeeper.algorithms.linear.facts import NO_LIMIT, LinearFacts, NoNumbersError
from gamekeeper.algorithms.linear.programs import rows_of_contradiction
from gamekeeper.algorithms.linear.propagation import ImpliedLimits, propagate
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.algorithms.releases.structure import require_agreement
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import digits_text

Integers = NDArray[np.int64]

MOST_PROGRAMS = 20_000
"""The programs, and nodes of their branching, after which a search that nobody limits is given up.

Every release of the benchmarks takes some thousand at most; on hard ones it is a minute.
"""


@dataclass(frozen=True, eq=False)
class IntegerBounds:
    """Bounds of the cells of a table, and how they were found.

    - `lower`, `upper`: the bounds; `UNBOUNDED` where there is no upper one.
    - `tight_lower`, `tight_upper`: whether a table is known in which the cell is at the bound.
    - `table`: a table that satisfies the constraints; None if none was found within the limits.
    - `relaxations`, `programs`, `tables`: how many linear programs, those of branching among them,
      and integer programs were solved, and how many tables met.
    """

    lower: Integers
    upper: Integers
    tight_lower: NDArray[np.bool_]
    tight_upper: NDArray[np.bool_]
    table: Integers | None
    relaxations: int
    programs: int
    tables: int

    @property
    def tight(self) -> NDArray[np.bool_]:
        """Whether both bounds of a cell are proven to be reached."""
        return self.tight_lower & self.tight_upper


def integer_bounds(
    constraints: CountConstraints,
    *,
    cells: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    max_programs: int | None = None,
    progress: Progress | None = None,
) -> IntegerBounds:
    """Return the exact bounds of each cell; `NoNumbersError` where no table is possible.

    - `cells`: the flat numbers of the cells that are asked for; all unless told. Others get the
      bounds of propagation, and are tight only where these are equal.
    - `lower`, `upper`: limits of the cells that are known already, in the shape of the table.
    - `max_programs`: the limit of the effort. What is not settled by then has outer bounds and is
      not tight.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> found = integer_bounds(known)
    >>> found.lower.tolist(), found.upper.tolist(), bool(found.tight.all())
    ([[1, 1], [0, 0]], [[2, 2], [1, 1]], True)
    """
    asked = np.full(constraints.size, -1, np.int64)
    wanted = np.arange(constraints.size) if cells is None else np.asarray(cells, np.int64)
    outside = int(np.count_nonzero((wanted < 0) | (wanted >= constraints.size)))
    if outside:
        raise InputError(
            Reason.BAD_OPTION,
            f"The bounds of {wanted.size} cells were asked for.",
            f"{outside} of them are not among the cells 0 to {constraints.size - 1}.",
            "Ask for cells of the base table.",
        )
    asked[wanted.reshape(-1)] = wanted.reshape(-1)
    low, high = _known(constraints, lower, upper)
    facts = replace(constraints.facts, lower=low, upper=high)
    limits = propagate(facts)
    clock = SearchClock(progress=progress, max_programs=max_programs)
    found = _bounds(facts, limits, asked, constraints.size, clock)
    # Cells that were not asked for keep their outer bounds, and sums of nothing would be 0.
    rest = asked < 0
    found.lower[rest] = limits.lower[rest]
    found.upper[rest] = np.minimum(limits.upper, UNBOUNDED)[rest]
    fixed = (found.lower == found.upper) & (found.table is not None)
    found.tight_lower[rest] = fixed[rest]
    found.tight_upper[rest] = fixed[rest]
    return _shaped(found, constraints.shape, constraints.shape)


def sum_bounds(
    constraints: CountConstraints,
    margin: CountMargin,
    *,
    max_programs: int | None = None,
    progress: Progress | None = None,
) -> IntegerBounds:
    """Return the exact bounds of each cell of a recoded or marginal table.

    Only the groups of the margin matter, not its limits. All else is as in `integer_bounds`.

    Examples
    --------
    >>> from gamekeeper.algorithms.releases.constraints import kept_axes
    >>> known = CountConstraints.of(
    ...     (2, 3), [((0, 1), [[0, 0, 2], [1, 0, 0]], [[3, 3, 4], [3, 9, 0]])]
    ... )
    >>> found = sum_bounds(known, kept_axes((2, 3), (0,), [0, 0]))
    >>> found.lower.tolist(), found.upper.tolist()
    ([[2], [1]], [[10], [12]])
    """
    facts = constraints.facts
    clock = SearchClock(progress=progress, max_programs=max_programs)
    found = _bounds(facts, propagate(facts), margin.cells, margin.lower.size, clock)
    return _shaped(found, margin.shape, constraints.shape)


def feasible_table(constraints: CountConstraints) -> Integers | None:
    """Return some table that satisfies the constraints, or None if there is none.

    Raises `LimitError` if neither was found, since the counts are too large for a proof.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> known.admits(feasible_table(known))
    True
    >>> feasible_table(CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 1])])) is None
    True
    """
    exists, table = _search_table(constraints.facts, None)
    if exists is None:
        raise LimitError(
            Reason.TOO_LARGE,
            "A table was asked for that satisfies all published counts.",
            "Neither a table nor a proof that there is none was found.",
            "Publish less, or join categories.",
        )
    return None if table is None else table.reshape(constraints.shape)


def has_table(facts: LinearFacts, *, max_seconds: float | None = None) -> bool | None:
    """Return whether whole numbers satisfy the facts, or None if that could not be settled."""
    return _search_table(facts, max_seconds)[0]


def _bounds(
    facts: LinearFacts,
    limits: ImpliedLimits,
    sums: Integers,
    n_sums: int,
    clock: SearchClock,
) -> IntegerBounds:
    """Return bounds of sums, flat; a sum over several components is bounded by each on its own."""
    searches, table = _started(facts, limits, sums, clock)
    clock.total = 2 * sum(len(search.part.sums) for search in searches)
    # What no component has is at its only value, or free.
    alone = np.ones(len(sums), np.bool_)
    for search in searches:
        alone[search.part.numbers] = False
    lower, tight_lower = np.zeros(n_sums, np.int64), np.full(n_sums, table is not None)
    upper, tight_upper = lower.copy(), tight_lower.copy()
    asked = alone & (sums >= 0)
    np.add.at(lower, sums[asked], limits.lower[asked])
    is_endless = limits.upper >= NO_LIMIT
    np.add.at(upper, sums[asked], np.where(is_endless, 0, limits.upper)[asked])
    for search in searches:
        if table is not None:
            search.run()
        own = search.part.sums
        lower[own] += search.least
        upper[own] += np.where(search.most >= NO_LIMIT, 0, search.most)
        tight_lower[own] &= search.tight_lower
        tight_upper[own] &= search.tight_upper
    clock.watch()
    unbounded = np.unique(sums[(sums >= 0) & is_endless])
    upper[unbounded] = UNBOUNDED
    tight_upper[unbounded] = table is not None
    return IntegerBounds(
        lower, upper, tight_lower, tight_upper, table,
        clock.relaxations, clock.programs, clock.points,
    )  # fmt: skip


def _search_table(
    facts: LinearFacts, max_seconds: float | None
) -> tuple[bool | None, Integers | None]:
    """Return whether there is a table, if that could be settled, and one."""
    nothing = np.full(len(facts.lower), -1, np.int64)
    try:
        clock = SearchClock(max_seconds=max_seconds)
        _, table = _started(facts, propagate(facts), nothing, clock)
    except NoNumbersError:
        return False, None
    return None if table is None else True, table


def _started(
    facts: LinearFacts, limits: ImpliedLimits, sums: Integers, clock: SearchClock
) -> tuple[list[ComponentSearch], Integers | None]:
    """Return the searches of all components, and a table if each has found one of its own."""
    parts = components(facts, limits.lower, limits.upper, sums, every=True)
    searches = [ComponentSearch(part, clock) for part in parts]
    table = limits.lower.copy()
    is_found = True
    # All are started: a later one may prove what an earlier one leaves open.
    for search in searches:
        is_found &= search.start(until_found=True)
        if search.point is not None:
            table[search.part.numbers] = search.point
    return searches, table if is_found else None


def _known(
    constraints: CountConstraints, lower: ArrayLike | None, upper: ArrayLike | None
) -> tuple[Integers, Integers]:
    low, high = _no_limits(constraints.size)
    if lower is not None:
        low = np.maximum(np.asarray(lower, np.int64).reshape(-1), 0)
    if upper is not None:
        high = np.array(upper, np.int64).reshape(-1)
        high[high >= UNBOUNDED] = NO_LIMIT
    for name, limits in (("lower", low), ("upper", high)):
        if limits.size != constraints.size:
            raise InputError(
                Reason.MALFORMED,
                f"Known {name} limits of the cells were given.",
                f"There are {limits.size} of them, and {constraints.size} cells.",
                "Give limits in the shape of the base table.",
            )
    return low, high


def _no_limits(n_cells: int) -> tuple[Integers, Integers]:
    return np.zeros(n_cells, np.int64), np.full(n_cells, NO_LIMIT)


def _shaped(found: IntegerBounds, shape: tuple[int, ...], base: tuple[int, ...]) -> IntegerBounds:
    return replace(
        found,
        lower=found.lower.reshape(shape),
        upper=found.upper.reshape(shape),
        tight_lower=found.tight_lower.reshape(shape),
        tight_upper=found.tight_upper.reshape(shape),
        table=None if found.table is None else found.table.reshape(base),
    )


# A row takes two programs at most, of a few milliseconds each.
MOST_ROWS = 3_000


def tightened_margins(
    constraints: CountConstraints, *, max_rows: int = MOST_ROWS
) -> CountConstraints:
    """Return constraints with the same tables and the tightest limits of each published sum.

    With more rows than `max_rows` they are returned as they are.

    Examples
    --------
    Two sums of 2 to 4, and a total of 0 to 4: both are 2.

    >>> known = CountConstraints.of((2,), [((0,), [2, 2], [4, 4]), ((), 0, 4)])
    >>> [margin.upper.tolist() for margin in tightened_margins(known).margins]
    [[2, 2], [4]]
    """
    if sum(margin.lower.size for margin in constraints.margins) > max_rows:
        return constraints
    return CountConstraints(
        constraints.shape, tuple(_tightened(constraints, margin) for margin in constraints.margins)
    )


def _tightened(constraints: CountConstraints, margin: CountMargin) -> CountMargin:
    if margin.exact:
        return margin
    found = sum_bounds(constraints, margin, max_programs=MOST_PROGRAMS)
    return CountMargin(
        margin.groups, found.lower.reshape(margin.shape), found.upper.reshape(margin.shape)
    )


@dataclass(frozen=True)
class Conflict:
    """Rows that no table satisfies together; none where there is a table.

    They are irreducible if the others could hold without any one of them; not, where time was up
    before that was known of each.
    """

    rows: tuple[int, ...]
    is_irreducible: bool = True


def find_conflict(constraints: CountConstraints, *, max_seconds: float | None = None) -> Conflict:
    """Return an irreducible set of rows that conflict, empty if there is a table.

    With a limit of time the set still conflicts, but a row that could not be shown to be needless
    in time is kept. Raises `LimitError` if it could not be settled whether there is a table.

    Examples
    --------
    >>> known = CountConstraints.of(
    ...     (2, 2), [((0,), [3, 1]), ((1,), [2, 2]), ((0, 1), [[0, 2], [1, 0]])]
    ... )
    >>> find_conflict(known)
    Conflict(rows=(0, 4, 5), is_irreducible=True)
    """
    try:
        require_agreement(constraints)
    except NoNumbersError as error:
        return Conflict(tuple(error.rows))
    facts = constraints.facts
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    unsettled = 0

    def conflict(chosen: Integers) -> bool | None:
        nonlocal unsettled
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            unsettled += 1
            return None
        exists = has_table(_only(facts, chosen), max_seconds=left)
        unsettled += exists is None
        return None if exists is None else not exists

    limited = np.flatnonzero((facts.low > 0) | (facts.high < NO_LIMIT))
    certified = rows_of_contradiction(_only(facts, limited), max_seconds)
    if len(certified) and conflict(limited[certified]):
        limited = limited[certified]
    else:
        verdict = conflict(limited)
        if verdict is None:
            raise LimitError(
                Reason.TOO_LARGE,
                "Published counts that contradict each other were asked for.",
                "It could not be settled whether they do"
                + ("." if max_seconds is None else f" within {digits_text(max_seconds)} seconds."),
                "Allow more time (max_seconds), or publish less.",
            )
        if not verdict:
            return Conflict(())
    unsettled = 0
    found = tuple(sorted(_explain(conflict, [], False, limited.tolist())))
    return Conflict(found, is_irreducible=not unsettled)


def _explain(
    conflict: Callable[[Integers], bool | None], given: list[int], is_new: bool, rows: list[int]
) -> list[int]:
    """Return rows that, with those given, are an irreducible conflict."""
    if is_new and conflict(np.array(given, np.int64)):
        return []
    if len(rows) == 1:
        return rows
    half = len(rows) // 2
    first, second = rows[:half], rows[half:]
    of_second = _explain(conflict, given + first, True, second)
    of_first = _explain(conflict, given + of_second, bool(of_second), first)
    return of_first + of_second


def _only(facts: LinearFacts, chosen: Integers) -> LinearFacts:
    """Return facts with some of the rows alone."""
    chosen = np.sort(chosen)
    lengths = np.diff(facts.starts)[chosen]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    # Place by place: the first cell of a row, and how far along it.
    at = np.repeat(facts.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
    return replace(
        facts, starts=starts, members=facts.members[at], factors=facts.factors[at],
        low=facts.low[chosen], high=facts.high[chosen],
    )  # fmt: skip
