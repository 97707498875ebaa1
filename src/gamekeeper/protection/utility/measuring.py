"""Measures what a file lost from before to after: tables, variables, numbers, analyses.

Of numbers: how far cells moved, means, deviations, and how they vary together.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import utility
from gamekeeper.algorithms.classes import class_numbers, dense_numbers
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable, replace_cells
from gamekeeper.data.reading.columns import float_of, number_of
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.options import option, require_valid
from gamekeeper.protection.step import ChangeLog
from gamekeeper.protection.utility import result
from gamekeeper.protection.utility.analyses import (
    AlignedVariable,
    Side,
    align,
    common_variables,
    compare_analyses,
    is_sprawling,
    parse_analyses,
)
from gamekeeper.results import Provenance
from gamekeeper.wording import count_of, did_you_mean, quoted

Floats = NDArray[np.float64]


def number_losses(
    before: CodedTable,
    after: CodedTable,
    log: ChangeLog | None,
    weights: tuple[Floats, Floats] | None,
    weight: str,
    decimal: str,
    in_tables: Sequence[str],
) -> tuple[tuple[result.NumberLoss, ...], dict[str, tuple[Floats, Floats]]]:
    """Return what numeric columns lost, and all numbers that analyses may use."""
    usable = usable_numbers(before, after, decimal)
    shown = {
        name: pair
        for name, pair in usable.items()
        if name in before.numbers
        # A changed amount that was coded is a number all the same.
        or (name not in in_tables and log is not None and name in log.variables)
    }
    lines: list[result.NumberLoss] = []
    for name, (old, new) in shown.items():
        if name == weight:
            continue
        loss = None
        if log is not None:
            own = old if log.records is None else old[log.records]
            loss = utility.il1s(own[:, None], new[:, None])
        plain = [utility.complete_moments(values[:, None]) for values in (old, new)]
        weighted = (
            [None, None]
            if weights is None
            else [
                _finite(utility.complete_moments(values[:, None], own).means[0])
                for values, own in zip((old, new), weights, strict=True)
            ]
        )
        n_there = max(1, int(np.isfinite(old).sum()))
        lines.append(
            result.NumberLoss(
                name,
                None if loss is None else loss.per_cell,
                0.0 if loss is None else loss.n_lost / n_there,
                *(_finite(moments.means[0]) for moments in plain),
                *(_finite(np.sqrt(moments.covariances[0, 0])) for moments in plain),
                *weighted,
            )
        )
    return tuple(lines), usable


def usable_numbers(
    before: CodedTable, after: CodedTable, decimal: str
) -> dict[str, tuple[Floats, Floats]]:
    """Return what both files have as numbers: numeric columns, and variables all of whose values are."""
    usable: dict[str, tuple[Floats, Floats]] = {}
    for name in before.numbers:
        if name in after.numbers:
            usable[name] = before.number(name), after.number(name)
    for variable in before.codebook:
        if variable.name in usable or variable.name not in after.codebook:
            continue
        read = [_as_numbers(table, variable.name, decimal) for table in (before, after)]
        if read[0] is not None and read[1] is not None:
            usable[variable.name] = read[0], read[1]
    return usable


def _as_numbers(table: CodedTable, name: str, decimal: str) -> Floats | None:
    values = [number_of(v, decimal) for v in table.codebook[name].values[MISSING + 1 :]]
    if any(value is None for value in values):
        return None
    numbers = np.array([np.nan, *(float_of(value or Fraction(0)) for value in values)])
    return None if np.isinf(numbers).any() else numbers[table.codes(name)]


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def pair_losses(
    numbers: Mapping[str, tuple[Floats, Floats]], weights: tuple[Floats, Floats] | None
) -> tuple[result.PairLoss, ...]:
    """Return how every two numbers vary together, before and after."""
    found: list[result.PairLoss] = []
    for one, other in combinations(numbers, 2):
        tables = [np.stack([numbers[one][n], numbers[other][n]], axis=1) for n in (0, 1)]
        covariances, correlations = zip(*(_varied(table, None) for table in tables), strict=True)
        by_weight: list[tuple[float | None, ...]] = [(None, None), (None, None)]
        if weights is not None:
            both = zip(tables, weights, strict=True)
            by_weight = list(zip(*(_varied(table, own) for table, own in both), strict=True))
        found.append(
            result.PairLoss(one, other, *covariances, *correlations, *by_weight[0], *by_weight[1])
        )
    return tuple(found)


def _varied(table: Floats, weights: Floats | None) -> tuple[float | None, float | None]:
    """Return covariance and correlation of two numbers; None where they are not known."""
    found = utility.complete_moments(table, weights)
    covariance = _finite(found.covariances[0, 1])
    spread = np.sqrt(found.covariances[0, 0] * found.covariances[1, 1])
    if covariance is None or not spread > 0:
        return covariance, None
    return covariance, float(np.clip(covariance / spread, -1, 1))


def moved_correlations(
    numbers: dict[str, tuple[Floats, Floats]],
) -> tuple[float | None, float | None]:
    """Return by how much correlations, and their eigenvalues, moved at most."""
    columns = [pair for pair in numbers.values() if not np.array_equal(*pair, equal_nan=True)]
    if len(numbers) < 2 or not columns:
        return None, None
    shown: list[Floats] = []
    for number in (0, 1):
        table = np.stack([pair[number] for pair in numbers.values()], axis=1)
        found = utility.complete_moments(table)
        spread = np.sqrt(np.diag(found.covariances))
        if not found.n_records or not (spread > 0).all():
            return None, None
        shown.append(found.covariances / np.outer(spread, spread))
    apart = np.abs(shown[1] - shown[0]).max()
    values = [np.linalg.eigvalsh(matrix) for matrix in shown]
    return float(apart), float(np.abs(values[1] - values[0]).max())


_MOST_CELLS = 20_000_000_000
_RECORDS_A_CLASS = 5


@dataclass(frozen=True, kw_only=True)
class UtilityOptions:
    """What is asked of a file before and after: by default all variables that both have, and no weights.

    Variables with too many values for tables, as identifiers and amounts have, are left out, or
    compared as numbers.
    """

    variables: tuple[str, ...] = option(
        (), "The coded variables to compare.", default_text="all of both files"
    )
    most: int = option(3, "Compare tables of up to so many variables.", least=1, most=3)
    weight: str = option("", "The column with weights, for figures by weight besides.")
    analyses: tuple[str, ...] = option(
        (),
        "An analysis to do before and after: 'income ~ age + sex', 'mean of income by region',"
        " 'share of job by region'.",
        flags="--analysis",
    )


def measure_utility(
    before: CodedTable,
    after: CodedTable,
    asked: UtilityOptions | None = None,
    *,
    log: ChangeLog | None = None,
    beside: CodedTable | None = None,
    decimal: str = ".",
) -> result.Utility:
    """Compare a file with what was made of it.

    With a `log` of where it was changed, records are compared one by one, and suppressed cells are
    told from missing ones; without, only what the files as a whole say is compared. `beside` has
    columns that analyses name and that were not changed, records as in `before`.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> file = coded_from_codes([[1, 1], [2, 1], [2, 2]], ["sex", "job"])
    >>> measure_utility(file, file).sentences()[0]
    'Every table of up to 2 variables is as it was.'
    """
    begun = time.perf_counter()
    options = asked or UtilityOptions()
    what = "A file was to be compared with what was made of it."
    require_valid(options, what)
    names = _names(before, after, log, options, what)
    _require_few(what, len(names), options.most, before.n_records + after.n_records)
    both = {name: align(before, after, name, log) for name in names}
    weights = _weights(before, after, options.weight, what)
    first = _matrix([variable.before for variable in both.values()], before.n_records)
    second = _matrix([variable.after for variable in both.values()], after.n_records)
    plain = utility.margin_distances(first, second, most=options.most)
    by_weight = None
    if weights is not None:
        by_weight = utility.margin_distances(first, second, most=options.most, weights=weights)
    weighted_of = {} if by_weight is None else {m.variables: m.distance for m in by_weight}
    tables = [
        result.TableLoss(
            tuple(names[place] for place in margin.variables),
            margin.distance,
            weighted_of.get(margin.variables),
        )
        for margin in utility.worst(plain, result.WORST)
    ]
    single = {m.variables[0]: m.distance for m in plain if len(m.variables) == 1}
    numbers, numbers_of = number_losses(before, after, log, weights, options.weight, decimal, names)
    moved = moved_correlations(
        {name: pair for name, pair in numbers_of.items() if name in before.numbers}
    )
    usable, coded = numbers_of, both
    if beside is not None:
        left = None if log is None else log.records
        later = beside if left is None else replace_cells(beside, records=left)
        usable = {**usable_numbers(beside, later, decimal), **usable}
        coded = {**{n: align(beside, later, n, None) for n in beside.codebook.names}, **coded}
    analyses = parse_analyses(options.analyses, list(usable), list(coded))
    sides = [
        Side(
            {name: pair[number] for name, pair in usable.items()},
            {name: (v.before, v.after)[number] for name, v in coded.items()},
            None if weights is None else weights[number],
        )
        for number in (0, 1)
    ]
    return result.Utility(
        before.n_records,
        after.n_records,
        tuple(
            _variable(variable, log, single[place], weighted_of.get((place,)), weights)
            for place, variable in enumerate(both.values())
        ),
        numbers,
        tuple(tables),
        utility.n_margins(len(names), options.most),
        result.mean_lines(
            utility.mean_distances(plain),
            None if by_weight is None else utility.mean_distances(by_weight),
        ),
        utility.logistic_pmse(first, second),
        None if weights is None else utility.logistic_pmse(first, second, weights=weights),
        _saturated(first, second),
        *moved,
        tuple(compare_analyses(analyses, sides[0], sides[1], coded)),
        Provenance(
            "utility",
            parameters={
                "variables": ", ".join(names),
                "most": str(options.most),
                "weight": options.weight or "none",
                "analyses": "; ".join(options.analyses) or "none",
                "records": "compared one by one" if log is not None else "files as a whole",
            },
            fingerprint=before.fingerprint,
            engine=before.engine.name,
            seconds=time.perf_counter() - begun,
        ),
        pair_losses({line.variable: numbers_of[line.variable] for line in numbers}, weights),
    )


def _names(
    before: CodedTable, after: CodedTable, log: ChangeLog | None, options: UtilityOptions, what: str
) -> list[str]:
    known = common_variables(before, after, log)
    unknown = [name for name in options.variables if name not in known]
    if unknown:
        found = f"{quoted(unknown)} {'is' if len(unknown) == 1 else 'are'} not a variable of both files."
        raise InputError(Reason.UNKNOWN_NAME, what, found, did_you_mean(unknown[0], known))
    chosen = list(dict.fromkeys(options.variables)) or [
        name
        for name in known
        if not is_sprawling(before.codebook[name], before.n_records) or _is_made_coarser(log, name)
    ]
    if not chosen:
        raise InputError(
            Reason.NOTHING_GIVEN, what, "They have no variable in common.", "Check the files."
        )
    return chosen


def _is_made_coarser(log: ChangeLog | None, name: str) -> bool:
    change = None if log is None else log.variables.get(name)
    return change is not None and (change.recode is not None or bool(change.n_suppressed))


def _require_few(what: str, n_variables: int, most: int, n_records: int) -> None:
    n_tables = utility.n_margins(n_variables, most)
    if n_tables * n_records > _MOST_CELLS:
        raise LimitError(
            Reason.TOO_LARGE,
            what,
            f"{count_of(n_tables, 'table')} of up to {most} variables over"
            f" {count_of(n_records, 'record')} would take hours.",
            "Name fewer variables, or compare tables of fewer variables (most).",
        )


def _matrix(columns: Sequence[NDArray[np.int64]], n_records: int) -> NDArray[np.int64]:
    return np.stack(columns, axis=1) if columns else np.zeros((n_records, 0), np.int64)


def _weights(
    before: CodedTable, after: CodedTable, name: str, what: str
) -> tuple[Floats, Floats] | None:
    if not name:
        return None
    for table in (before, after):
        if name not in table.numbers:
            fault = f"The weights {quoted([name])} are not a numeric column of both files."
            raise InputError(Reason.UNKNOWN_NAME, what, fault, did_you_mean(name, table.numbers))
    found = tuple(np.nan_to_num(table.number(name)) for table in (before, after))
    if any((own < 0).any() or own.sum() <= 0 for own in found):
        fault = "Some weights are negative, or all are 0."
        raise InputError(Reason.BAD_OPTION, what, fault, "Check the weights.")
    return found[0], found[1]


def _variable(
    variable: AlignedVariable,
    log: ChangeLog | None,
    distance: float,
    distance_weighted: float | None,
    weights: tuple[Floats, Floats] | None,
) -> result.VariableLoss:
    original, after = variable.original, variable.after
    changed = suppressed = lost = lost_weighted = None
    weight = None if weights is None else weights[0]
    if log is not None:
        n_left = max(1, log.n_left)
        changed = float(np.count_nonzero(log.changed(variable.name))) / n_left
        stars = log.suppressed(variable.name) & log.changed(variable.name)
        suppressed = float(np.count_nonzero(stars)) / n_left
        left = slice(None) if log.records is None else log.records
        lost = _bits_lost(original[left], after)
        if weights is not None:
            lost_weighted = _bits_lost(original[left], after, weights[1])
    there = after[(after != MISSING) & (after != variable.suppressed)]
    return result.VariableLoss(
        variable.name,
        len(np.unique(original[original != MISSING])),
        len(np.unique(there)),
        utility.entropy(np.bincount(original)),
        lost,
        changed,
        suppressed,
        distance,
        distance_weighted,
        None if weight is None else utility.entropy(np.bincount(original, weight)),
        lost_weighted,
    )


def _bits_lost(
    before: NDArray[np.int64], after: NDArray[np.int64], weights: Floats | None = None
) -> float:
    """Return what remains unknown of the value of before to whoever sees that of after, in bits."""
    joint = before * (int(after.max(initial=0)) + 1) + after
    lost = utility.entropy(np.bincount(dense_numbers(joint), weights)) - utility.entropy(
        np.bincount(after, weights)
    )
    return lost if lost > 1e-12 else 0.0


def _saturated(first: NDArray[np.int64], second: NDArray[np.int64]) -> float | None:
    """Return pMSE by classes as a share of the most, where a class has some records on average."""
    numbers = class_numbers(first, second)
    n_classes = 1 + max(int(own.max(initial=-1)) for own in numbers)
    if not n_classes or len(first) + len(second) < _RECORDS_A_CLASS * n_classes:
        return None
    counts = [np.bincount(own, minlength=n_classes).tolist() for own in numbers]
    return float(utility.saturated_pmse(*counts)[1])
