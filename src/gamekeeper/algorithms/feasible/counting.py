"""How many tables satisfy a release, and which.

The tables fall into independent parts (`independent_parts`), whose numbers multiply. A part is counted
exactly by `cellwise_sums` where sums of rows have few different values on the way, whatever the
number of its tables. Otherwise its tables are visited one by one: a depth-first search that
tightens limits after each step (`enumeration_kernels`). Before that, random draws of known probability
estimate how many tables and steps there will be (Knuth 1975), and a search that would not end is
refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.feasible.cellwise_sums import TooManySteps, count_part
from gamekeeper.algorithms.feasible.drawing_time import UNLIMITED, DrawingTime
from gamekeeper.algorithms.feasible.independent_parts import SplitTables, TablePart, split_tables
from gamekeeper.algorithms.feasible.part_sampling import estimate_part
from gamekeeper.algorithms.releases.constraints import CountConstraints, NoTableError
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, power_text

Integers = NDArray[np.int64]

_LAYER_STEPS = 10_000_000
_NODES_PER_TABLE = 30
_LEAST_NODES = 1_000_000
_CALL = 100_000
_PILOT = 400


def count_tables(
    constraints: CountConstraints,
    *,
    most: int = 10_000_000,
    within: DrawingTime = UNLIMITED,
    progress: Progress | None = None,
) -> int | None:
    """Return the number of tables that satisfy the constraints; None if there are infinitely many.

    Parameters
    ----------
    most
        The largest number of tables of one part that may be visited one by one. The number that is
        returned can be far larger: most releases are counted without visiting each table.
    within
        The time that visits, and the draws before them, may take.
    progress
        Told how many tables have been visited.

    Raises
    ------
    NoTableError
        If there is no table.
    LimitError
        If more tables than `most` would have to be visited, with an estimate of their number, or
        if that would take too long.

    Examples
    --------
    >>> margins = [((0,), [4, 4, 4, 4]), ((1,), [4, 4, 4, 4])]
    >>> count_tables(CountConstraints.of((4, 4), margins))
    10147
    """
    split = split_tables(constraints)
    number = prod(_count(part, most, within, progress) for part in split.parts)
    if not number:
        raise NoTableError()
    return None if len(split.unbounded) else number


def list_tables(constraints: CountConstraints, *, most: int = 100_000) -> Integers:
    """Return all tables that satisfy the constraints, along the first axis, in ascending order.

    Raises
    ------
    NoTableError
        If there is no table.
    InputError
        If there are infinitely many.
    LimitError
        If there are more than `most`.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> list_tables(known).tolist()
    [[[1, 2], [1, 0]], [[2, 1], [0, 1]]]
    """
    split = split_tables(constraints)
    if len(split.unbounded):
        raise InputError(
            Reason.BAD_OPTION,
            "A list of all feasible tables was asked for.",
            f"{count_of(len(split.unbounded), 'cell')} can be as large as you like, so there are "
            "infinitely many.",
            "Give an upper limit for the hidden counts or a total.",
        )
    number = prod(_count(part, most, UNLIMITED) for part in split.parts)
    if not number:
        raise NoTableError()
    if number > most:
        raise _too_many(f"{number:,}", most, "listed")
    return _whole(constraints, split, [_list(part, most, UNLIMITED) for part in split.parts])


def list_part(part: TablePart, most: int, within: DrawingTime = UNLIMITED) -> Integers:
    """Return the tables of one part, counted from the lower limits of its cells, in any order.

    Raises `LimitError` where there are more than `most`, or the search takes too many steps or too long.
    """
    _refuse_endless(part, most, within)
    return _list(part, most, within)


def _list(part: TablePart, most: int, within: DrawingTime) -> Integers:
    found = list(_visits(part, most, within, None, keeps=True))
    return np.concatenate([tables for _, tables in found])


def _whole(constraints: CountConstraints, split: SplitTables, lists: list[Integers]) -> Integers:
    """Return every choice of one table per part, sorted."""
    numbers = np.arange(prod(len(tables) for tables in lists))
    whole = np.tile(split.lower, (len(numbers), 1))
    for part, tables in zip(split.parts, lists, strict=True):
        whole[:, part.cells] += tables[numbers % len(tables)]
        numbers //= len(tables)
    order = np.lexsort(whole.T[::-1])
    return whole[order].reshape(-1, *constraints.shape)


def _count(
    part: TablePart, most: int, within: DrawingTime, progress: Progress | None = None
) -> int:
    try:
        return count_part(part, _LAYER_STEPS)
    except NoTableError:
        return 0
    except TooManySteps:
        pass
    _refuse_endless(part, most, within)
    return sum(number for number, _ in _visits(part, most, within, progress, keeps=False))


def _visits(
    part: TablePart, most: int, within: DrawingTime, progress: Progress | None, *, keeps: bool
) -> Iterator[tuple[int, Integers]]:
    """Search in calls of limited length; yield how many tables each has found, and the tables."""
    from gamekeeper.algorithms.feasible.enumeration_kernels import (
        begin_search,
        limits_of,
        problem_of,
        search,
    )

    problem, limits, state = problem_of(part), limits_of(part, deep=True), begin_search(part)
    most_nodes = max(_LEAST_NODES, _NODES_PER_TABLE * most)
    per_call = max(1, min(_CALL, most + 1, 20_000_000 // part.n_cells))
    tables = np.zeros((per_call if keeps else 1, part.n_cells), np.int64)
    status = 1
    while status:
        before = int(state.numbers[1])
        status = search(problem, limits, state, tables, keeps, per_call, _CALL)
        visited, nodes = int(state.numbers[1]), int(state.numbers[2])
        if visited > most or (status and nodes > most_nodes):
            raise _too_many(f"more than {visited:,}", most, "visited one by one")
        within.require_left()
        yield visited - before, tables[: visited - before].copy()
        if progress is not None:
            progress(visited, None)


def _refuse_endless(part: TablePart, most: int, within: DrawingTime) -> None:
    """Refuse a search whose end random draws do not see."""
    if float(np.log(part.widths + 1.0).sum()) <= np.log(most + 1.0):
        return
    within.require(part)
    log_total, relative_error = estimate_part(part, draws=_PILOT)
    # Where draws find no table, the search is given the steps that it may take.
    certain = max(1 - 2 * relative_error, 0.1)
    if np.isfinite(log_total) and log_total + np.log(certain) > np.log(most):
        number = power_text(log_total / np.log(10))
        error = f"{100 * relative_error:.0f}%" if relative_error < 1 else "large"
        raise _too_many(f"{number} (standard error {error})", most, "visited one by one")


def _too_many(number: str, most: int, done: str) -> LimitError:
    return LimitError(
        Reason.TOO_LARGE,
        f"All feasible tables were to be {done}, up to {most:,}.",
        f"There are {number}.",
        "Allow more with most (--most), or draw tables at random.",
    )
