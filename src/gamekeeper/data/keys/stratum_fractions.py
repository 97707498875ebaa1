"""Sampling fractions: which share of the population a file, or each of its strata, holds.

A fraction is given, for the file or per stratum, or follows from weights as the number of records
over the sum of their weights. All are exact rationals. With strata the fraction of the file is
the number of records over the population that the strata imply.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from gamekeeper.algorithms.sampling_fraction import FractionLike, parse_fraction
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted


def fractions_by_code(
    variable: CodedVariable, counts: Mapping[int, int], given: Mapping[str, FractionLike]
) -> tuple[dict[int, Fraction], list[Problem]]:
    """Return the fraction of each stratum that occurs, by its code, and what is wrong.

    A stratum is given by its word or by its value in the file, the missing cell by "missing".
    """
    where = f"strata {quoted([variable.name])}"
    problems: list[Problem] = []
    read: dict[str, Fraction] = {}
    for name, value in given.items():
        try:
            read[name] = parse_fraction(value)
        except InputError as error:
            problems.append(Problem(error.reason, where, error.found, error.do))
    found: dict[int, Fraction] = {}
    lost: list[int] = []
    for code in counts:
        names = [name for name in (variable.words[code], variable.values[code]) if name in given]
        if not names:
            lost.append(code)
        elif names[0] in read:
            found[code] = read[names[0]]
    if lost:
        n_records = sum(counts[code] for code in lost)
        problems.append(
            Problem(
                Reason.UNKNOWN_NAME,
                where,
                f"{len(lost)} of {count_of(len(counts), 'stratum', 'strata')} have no fraction "
                f"({count_of(n_records, 'record')}).",
                "Give one for each, by its word.",
            )
        )
    return found, problems


def overall_fraction(counts: Mapping[int, int], fractions: Mapping[int, Fraction]) -> Fraction:
    """Return the number of records over the population that the strata imply.

    Examples
    --------
    >>> overall_fraction({1: 10, 2: 10}, {1: Fraction(1, 10), 2: Fraction(1, 30)})
    Fraction(1, 20)
    """
    population = sum((count / fractions[code] for code, count in counts.items()), Fraction(0))
    return sum(counts.values()) / population
