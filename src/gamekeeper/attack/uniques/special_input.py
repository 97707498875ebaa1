"""Checks of what is tried on special uniques: coarser codings and other sampling fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import did_you_mean, digits_text, quoted

if TYPE_CHECKING:
    from gamekeeper.data.coding.recode import Recode
    from gamekeeper.data.keys.key_table import KeyTable


def checked_levels(
    key_table: KeyTable, coarser: Mapping[str, Sequence[Recode]]
) -> dict[str, tuple[Recode, ...]]:
    """Return the coarser codings per key variable, in the order given; all faults at once."""
    problems: list[Problem] = []
    for name, recodes in coarser.items():
        where = f"variable {quoted([name])}"
        if name not in key_table.keys:
            hint = did_you_mean(name, key_table.keys)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "not a key variable.", hint))
            continue
        n_codes = key_table.coded.codebook[name].n_codes
        if not recodes:
            problems.append(Problem(Reason.NOTHING_GIVEN, where, "no coarser coding is given."))
        for number, recode in enumerate(recodes, start=1):
            if recode.variable != name:
                found = f"coding {number} is for the variable {quoted([recode.variable])}."
                problems.append(Problem(Reason.BAD_OPTION, where, found))
            elif len(recode.codes) != n_codes:
                found = f"coding {number} is for {len(recode.codes):,} codes, not {n_codes:,}."
                problems.append(Problem(Reason.BAD_OPTION, where, found))
    refuse(problems, "Special uniques were to be followed through coarser codings.")
    return {name: tuple(recodes) for name, recodes in coarser.items()}


def checked_size(n_variables: int, special_size: int | None, max_size: int | None) -> int:
    """Return the most variables of a part of the key that makes a unique special."""
    if special_size is None:
        return n_variables - 1
    if not 1 <= special_size < n_variables or (max_size is not None and max_size < special_size):
        found = f"{special_size} is not from 1 to {n_variables - 1}"
        if max_size is not None:
            found += f" and at most {max_size}, the largest that is searched"
        raise InputError(
            Reason.BAD_OPTION,
            "Special uniques on small parts of the key were asked for.",
            f"The size of the part, {found}.",
            "Give fewer variables (--special-size) than the key has.",
        )
    return special_size


def checked_steps(
    name: str,
    values: Sequence[str | float | Fraction],
    *,
    least: Fraction | None = None,
) -> tuple[Fraction, ...]:
    """Return fractions in (0, 1], none below `least`; all faults at once."""
    problems: list[Problem] = []
    steps: list[Fraction] = []
    for value in values:
        where = f"{name} {quoted([str(value)])}"
        try:
            step = parse_fraction(value)
        except InputError as error:
            problems.append(Problem(error.reason, where, error.found, error.do))
            continue
        if least is not None and step < least:
            found = f"less than the fraction of the sample, {digits_text(float(least), 4)}."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        steps.append(step)
    refuse(problems, "Special uniques were to be followed through other sampling fractions.")
    return tuple(dict.fromkeys(steps))
