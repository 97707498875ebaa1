"""Numbers of a coded file as arrays, and changed ones brought back to it.

A number is a numeric column of the table, or a coded variable all of whose values are numbers (an age
among the keys); a column that is both is changed in both. What is drawn for a record, and which of two
records comes first, depends on the records' identities and never on their order in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.replaced_cells import replace_cells
from gamekeeper.data.reading.numerals import float_of, number_of
from gamekeeper.data.reading.values import value_text
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.protect.setting import Setting
from gamekeeper.wording import count_of, did_you_mean, quoted

Floats = NDArray[np.float64]
_MOST_DECIMALS = 6


def canonical_order(table: CodedTable, setting: Setting) -> NDArray[np.int64]:
    """Return the records in an order that is theirs and not that of the file."""
    return np.argsort(setting.records(table), kind="stable")


def read_numbers(table: CodedTable, names: Sequence[str], setting: Setting, asked: str) -> Floats:
    """Return variables as numbers, a column each; NaN where a cell is missing.

    Raises
    ------
    InputError
        For all names that are no variables, or have values that are no numbers.
    """
    problems: list[Problem] = []
    columns: list[Floats] = []
    known = list(dict.fromkeys((*table.numbers, *table.codebook.names)))
    for name in names:
        where = f"variable {quoted([name])}"
        if name in table.numbers:
            columns.append(table.number(name))
        elif name in table.codebook:
            values = table.codebook[name].values
            read = [number_of(value, setting.decimal) for value in values[MISSING + 1 :]]
            faults = sum(number is None for number in read)
            if faults:
                found = f"{faults:,} of its {count_of(len(read), 'value')} are no numbers."
                problems.append(Problem(Reason.WRONG_SCHEMA, where, found))
                continue
            numbers = np.array([np.nan, *(float_of(number or Fraction(0)) for number in read)])
            if n_large := int(np.isinf(numbers).sum()):
                found = f"{n_large:,} of its {count_of(len(read), 'value')} are too large."
                problems.append(Problem(Reason.TOO_LARGE, where, found))
                continue
            columns.append(numbers[table.codes(name)])
        else:
            near = did_you_mean(name, known)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "It is not in the file.", near))
    problems += naming_problems(names)
    refuse(
        problems,
        asked,
        f"{count_of(len(problems), 'variable')} cannot be used.",
        "Name variables of the file whose values are numbers.",
    )
    return np.stack(columns, axis=1)


def naming_problems(names: Sequence[str]) -> list[Problem]:
    """Return what is wrong with a list of variables whatever the file has: one is there twice, or none."""
    if not names:
        return [Problem(Reason.NOTHING_GIVEN, "variables", "None is named.")]
    return [
        Problem(Reason.DUPLICATE, f"variable {quoted([name])}", "It is named more than once.")
        for name, times in Counter(names).items()
        if times > 1
    ]


def read_weights(table: CodedTable, setting: Setting, asked: str) -> Floats:
    """Return the weights of records, 0 where there is none, or raise where they cannot be used."""
    found = ""
    weights = np.zeros(0)
    if not setting.weight:
        found = "Weights are to count, and no column with weights is named."
    else:
        weights = np.nan_to_num(table.number(setting.weight))
        if (weights < 0).any() or not weights.any():
            found = "Some weights are negative, or all of them are 0."
    if found:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            found,
            "Name weights (--weight of protect try), or do it without them.",
        )
    return weights


def decimals_of(values: Floats) -> int | None:
    """Return how many decimals numbers have; None where they have more than are ever meant.

    Examples
    --------
    >>> decimals_of(np.array([1.0, 2.5, np.nan])), decimals_of(np.array([1 / 3]))
    (1, None)
    """
    known = values[np.isfinite(values)]
    for decimals in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(known, decimals), known):
            return decimals
    return None


def rounded(after: Floats, before: Floats, decimals: int | None) -> Floats:
    """Return numbers with so many decimals each, or with as many as they had before."""
    made = after.copy()
    for place in range(made.shape[1]):
        wanted = decimals_of(before[:, place]) if decimals is None else decimals
        if wanted is not None:
            made[:, place] = np.round(made[:, place], wanted)
    # There is no zero below zero.
    return made + 0.0


def with_numbers(
    table: CodedTable, names: Sequence[str], before: Floats, after: Floats, setting: Setting
) -> tuple[CodedTable, ChangeLog]:
    """Return the table with other numbers, and where they differ; missing cells stay missing."""
    numbers: dict[str, Floats] = {}
    codes: dict[str, NDArray[np.int64]] = {}
    variables: dict[str, CodedVariable] = {}
    changes: dict[str, VariableChange] = {}
    for place, name in enumerate(names):
        old, new = before[:, place], after[:, place]
        changed = np.isfinite(old) & (old != new)
        changes[name] = VariableChange.of_cells(changed)
        if name in table.numbers:
            numbers[name] = new
        if name in table.codebook:
            variables[name], codes[name] = _recoded(table, name, new, changed, setting.decimal)
    made = replace_cells(table, codes, numbers=numbers, variables=variables)
    return made, ChangeLog(table.n_records, changes)


def _recoded(
    table: CodedTable, name: str, new: Floats, changed: NDArray[np.bool_], decimal: str
) -> tuple[CodedVariable, NDArray[np.int64]]:
    """Return a variable with other values, and its codes; cells that stay keep their writing."""
    old = table.codebook[name]
    codes = table.codes(name).astype(np.int64)
    written: dict[float, str] = {}
    for value in reversed(old.values[MISSING + 1 :]):
        number = number_of(value, decimal)
        if number is not None:
            written[float_of(number)] = value
    distinct, places = np.unique(new[changed], return_inverse=True)
    texts = [written.get(float(number)) or _text(float(number), decimal) for number in distinct]
    stay = {old.values[code] for code in np.unique(codes[~changed]) if code != MISSING}
    labels = {
        value: word for value, word in zip(old.values, old.words, strict=True) if value != word
    }
    made = CodedVariable.of_values(
        name, {*texts, *stay}, labels=labels, label=old.label, decimal=decimal
    )
    code_of = {value: code for code, value in enumerate(made.values) if code != MISSING}
    from_old = np.array([code_of.get(value, MISSING) for value in old.values], np.int64)
    fresh = from_old[codes]
    fresh[changed] = np.array([code_of[text] for text in texts], np.int64)[places]
    return made, fresh


def _text(number: float, decimal: str) -> str:
    text = value_text(number)
    assert text is not None
    return text.replace(".", decimal)


def strata_of(
    table: CodedTable, setting: Setting, within: Sequence[str], asked: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return a number per record that tells its stratum, and the variables that make strata.

    These are the variables named, or else the strata of the setting. A missing cell is a value.
    """
    names = tuple(within) or ((setting.strata,) if setting.strata else ())
    unknown = [name for name in names if name not in table.codebook]
    if unknown:
        raise InputError(
            Reason.UNKNOWN_NAME,
            asked,
            f"{quoted(unknown)} {'is' if len(unknown) == 1 else 'are'} not among the coded variables.",
            did_you_mean(unknown[0], table.codebook.names),
        )
    strata = np.zeros(table.n_records, np.int64)
    for name in names:
        _, strata = np.unique(strata * table.codebook[name].n_codes + table.codes(name),
                              return_inverse=True)  # fmt: skip
    return strata, names


def members_of(strata: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the places of the records of every stratum, in the order of strata."""
    order = np.argsort(strata, kind="stable")
    bounds = np.flatnonzero(np.diff(strata[order])) + 1
    return [part for part in np.split(order, bounds) if len(part)]


def changed_words(log: ChangeLog, names: Sequence[str]) -> str:
    """Return how many cells of variables got another value, in words."""
    told = [
        f"{quoted([name])} {log.variables[name].n_changed:,} of {log.n_records:,}" for name in names
    ]
    return f"Cells with another value: {', '.join(told)}."


def within_words(names: Sequence[str]) -> str:
    """Return the variables that make strata, as part of a sentence."""
    return f" within {quoted(names)}" if names else ""


def left_words(n_left: int, what: str) -> list[str]:
    """Say how many records have a missing number and are left without what protects others."""
    if not n_left:
        return []
    told = (
        f"{count_of(n_left, 'record')} with a missing number {'was' if n_left == 1 else 'were'} left as"
        f" they are: no {what} protects them."
    )
    return [told]
