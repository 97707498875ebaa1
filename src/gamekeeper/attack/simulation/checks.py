"""Checks of what repeated sampling is asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gamekeeper.algorithms.sampling_fraction import FractionLike, parse_fraction
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.sampling import sample_size
from gamekeeper.budget import require_memory
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, quoted

# A task, what waits for it and the dictionary of what it finds; a number by its name.
_SAMPLE_BYTES, _NUMBER_BYTES = 2_000, 100


def checked_fractions(
    asked: str, fractions: FractionLike | Sequence[FractionLike]
) -> tuple[Fraction, ...]:
    """Return the sampling fractions exactly, or raise one error for all that is wrong with them."""
    problems: list[Problem] = []
    steps: list[Fraction] = []
    given = [fractions] if isinstance(fractions, str | int | float | Fraction) else list(fractions)
    for value in given:
        where = f"fraction {quoted([str(value)])}"
        try:
            step = parse_fraction(value)
        except InputError as error:
            problems.append(Problem(error.reason, where, error.found, error.do))
            continue
        if step in steps:
            problems.append(Problem(Reason.DUPLICATE, where, "given twice."))
        steps.append(step)
    if not given:
        problems.append(Problem(Reason.NOTHING_GIVEN, "fractions", "none is given."))
    refuse(problems, asked)
    return tuple(steps)


def require_samples(notional: NotionalPopulation, steps: Sequence[Fraction]) -> None:
    """Refuse fractions that would give a sample without records."""
    small = [step for step in steps if sample_size(notional.n_records, step) == 0]
    if small:
        raise InputError(
            Reason.BAD_OPTION,
            f"Samples of a population of {count_of(notional.n_records, 'record')} were asked for.",
            f"A sample of {quoted(str(step) for step in small)} of it would be empty.",
            "Give larger fractions (--fraction).",
        )


def require_samples_fit(n_samples: int, n_measures: int) -> None:
    """Refuse more samples than can be kept: a task and a line of numbers each."""
    require_memory(
        f"{count_of(n_samples, 'sample')} were to be drawn.",
        n_samples * (_SAMPLE_BYTES + _NUMBER_BYTES * n_measures),
        "What is found in them",
        "Draw fewer (--samples); some hundred tell the spread",
    )
