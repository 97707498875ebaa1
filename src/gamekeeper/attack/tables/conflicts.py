"""A release that contradicts itself, told with published counts that cannot hold together."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress

from gamekeeper.algorithms.releases.constraints import NoTableError
from gamekeeper.data.tables.count_table import MOST_DENSE
from gamekeeper.data.tables.release import Release
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, digits_text

# Finding a smallest conflict solves a program for every count; beyond this the rows that a method
# has met are told instead.
_MOST_CELLS = 100_000
_MOST_SECONDS = 30.0


@contextmanager
def consistent(release: Release, asked: str) -> Generator[None]:
    """Turn a contradiction into one error with an irreducible set of published counts."""
    try:
        yield
    except NoTableError as error:
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


def _conflict(release: Release, asked: str, error: NoTableError) -> InputError:
    from gamekeeper.algorithms.bounds.conflicts import Conflict, find_conflict

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
