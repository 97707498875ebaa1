"""Names of columns as people type them: whatever their case, as long as one column is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import did_you_mean, quoted


def matched_name(name: str, known: Sequence[str]) -> str:
    """Return the name of a column as the data has it.

    Examples
    --------
    >>> matched_name("age", ["AGE", "Sex"])
    'AGE'
    """
    near = [name] if name in known else like(name, known)
    if len(near) == 1:
        return near[0]
    problem = Problem(
        Reason.UNKNOWN_NAME,
        f"column {quoted([name])}",
        f"It could be any of {quoted(near)}." if near else "It is not in the data.",
        "Write it exactly." if near else did_you_mean(name, known),
    )
    raise InputError(
        Reason.UNKNOWN_NAME,
        "A column was asked for.",
        problem.found,
        problem.do,
        problems=[problem],
    )


def matched_names(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return names as the data has them; those that mean no column, or several, as they are.

    Examples
    --------
    >>> matched_names(["age", "sex", "job"], ["AGE", "Sex", "SEX"])
    ('AGE', 'sex', 'job')
    """
    exact = set(known)
    found: list[str] = []
    for name in names:
        near = [] if name in exact else like(name, known)
        found.append(near[0] if len(near) == 1 else name)
    return tuple(found)


def like(name: str, known: Sequence[str]) -> list[str]:
    """Return the names that are the same but for their case."""
    asked = name.strip().casefold()
    return [other for other in known if other.casefold() == asked]
