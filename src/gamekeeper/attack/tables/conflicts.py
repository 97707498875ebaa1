"""A release that contradicts itself, told with published counts that cannot hold together."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from gamekeeper.algorithms.count_constraints import NoTableError
from gamekeeper.data.release import Release
from gamekeeper.errors import InputError, Problem, Reason, count_of

__all__ = ["consistent"]

# Finding a smallest conflict solves a program for every count; beyond this the rows that a method
# has met are told instead.
_MOST_CELLS = 100_000


@contextmanager
def consistent(release: Release, asked: str) -> Generator[None]:
    """Turn a contradiction into one error with an irreducible set of published counts."""
    try:
        yield
    except NoTableError as error:
        raise _conflict(release, asked, error) from None


def _conflict(release: Release, asked: str, error: NoTableError) -> InputError:
    from gamekeeper.algorithms.count_conflicts import conflicting_rows

    constraints = release.constraints
    smallest = constraints.size <= _MOST_CELLS
    rows = conflicting_rows(constraints) if smallest else error.rows
    problems = [
        Problem(Reason.CONFLICTING_COUNTS, release.row_words(row), "cannot hold with the others.")
        for row in rows
    ]
    found = (
        f"No table of counts agrees with it: {count_of(len(rows), 'published count')} contradict"
        " each other"
        + (", and without any one of them the others could hold." if smallest else ".")
    )
    return InputError(
        Reason.CONFLICTING_COUNTS,
        asked,
        found,
        "Check these counts, and the schemes they are said to be perturbed by.",
        problems=problems,
    )
