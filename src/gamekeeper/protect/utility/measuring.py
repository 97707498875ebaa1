"""Measures what a file lost from before to after: tables, variables, numbers, analyses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.utility.margin_distances import (
    entropy,
    margin_distances,
    mean_distances,
    n_margins,
    worst,
)
from gamekeeper.algorithms.utility.propensity import logistic_pmse, saturated_pmse
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.replaced_cells import replace_cells
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.options import Option, require_valid
from gamekeeper.protect.changes import ChangeLog
from gamekeeper.protect.utility.aligned_codes import (
    AlignedVariable,
    align,
    common_variables,
    is_sprawling,
)
from gamekeeper.protect.utility.analyses import Side, compare_analyses, parse_analyses
from gamekeeper.protect.utility.number_losses import (
    moved_correlations,
    number_losses,
    pair_losses,
    usable_numbers,
)
from gamekeeper.protect.utility.result import (
    WORST,
    TableLoss,
    Utility,
    VariableLoss,
    mean_lines,
)
from gamekeeper.results import Provenance
from gamekeeper.wording import count_of, did_you_mean, quoted

Floats = NDArray[np.float64]
_MOST_CELLS = 20_000_000_000
_RECORDS_A_CLASS = 5


@dataclass(frozen=True, kw_only=True)
class UtilityOptions:
    """What is asked of a file before and after.

    Utility is measured of all variables that both files have, unless some are named; those with too many
    values for tables, as identifiers and amounts have, are left out, or compared as numbers.
    """

    variables: Annotated[
        tuple[str, ...], Option("The coded variables to compare.", default_text="all of both files")
    ] = ()
    most: Annotated[int, Option("Compare tables of up to so many variables.", least=1, most=3)] = 3
    weight: Annotated[str, Option("The column with weights, for figures by weight besides.")] = ""
    analyses: Annotated[
        tuple[str, ...],
        Option(
            "An analysis to do before and after: 'income ~ age + sex', 'mean of income by region', 'share"
            " of job by region'.",
            flags="--analysis",
        ),
    ] = ()


def measure_utility(
    before: CodedTable,
    after: CodedTable,
    asked: UtilityOptions | None = None,
    *,
    log: ChangeLog | None = None,
    beside: CodedTable | None = None,
    decimal: str = ".",
) -> Utility:
    """Compare a file with what was made of it.

    Parameters
    ----------
    before, after
        The file as it was and as it is released.
    asked
        Which variables, weights and analyses; all variables and no weights when None.
    log
        Where it was changed. With it, records are compared one by one, and suppressed cells are told
        from missing ones; without, only what the files as a whole say is compared.
    beside
        Columns of the file that analyses name and that were not changed; records as in `before`.
    decimal
        How numbers of the file are written.

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
    plain = margin_distances(first, second, most=options.most)
    by_weight = None
    if weights is not None:
        by_weight = margin_distances(first, second, most=options.most, weights=weights)
    weighted_of = {} if by_weight is None else {m.variables: m.distance for m in by_weight}
    tables = [
        TableLoss(
            tuple(names[place] for place in margin.variables),
            margin.distance,
            weighted_of.get(margin.variables),
        )
        for margin in worst(plain, WORST)
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
    return Utility(
        before.n_records,
        after.n_records,
        tuple(
            _variable(variable, log, single[place], weighted_of.get((place,)), weights)
            for place, variable in enumerate(both.values())
        ),
        numbers,
        tuple(tables),
        n_margins(len(names), options.most),
        mean_lines(mean_distances(plain), None if by_weight is None else mean_distances(by_weight)),
        logistic_pmse(first, second),
        None if weights is None else logistic_pmse(first, second, weights=weights),
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
        raise InputError(
            Reason.UNKNOWN_NAME,
            what,
            f"{quoted(unknown)} {'is' if len(unknown) == 1 else 'are'} not a variable of both files.",
            did_you_mean(unknown[0], known),
        )
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
    n_tables = n_margins(n_variables, most)
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
            raise InputError(
                Reason.UNKNOWN_NAME,
                what,
                f"The weights {quoted([name])} are not a numeric column of both files.",
                did_you_mean(name, table.numbers),
            )
    found = tuple(np.nan_to_num(table.number(name)) for table in (before, after))
    if any((own < 0).any() or own.sum() <= 0 for own in found):
        raise InputError(
            Reason.BAD_OPTION,
            what,
            "Some weights are negative, or all are 0.",
            "Check the weights.",
        )
    return found[0], found[1]


def _variable(
    variable: AlignedVariable,
    log: ChangeLog | None,
    distance: float,
    distance_weighted: float | None,
    weights: tuple[Floats, Floats] | None,
) -> VariableLoss:
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
    return VariableLoss(
        variable.name,
        len(np.unique(original[original != MISSING])),
        len(np.unique(there)),
        entropy(np.bincount(original)),
        lost,
        changed,
        suppressed,
        distance,
        distance_weighted,
        None if weight is None else entropy(np.bincount(original, weight)),
        lost_weighted,
    )


def _bits_lost(
    before: NDArray[np.int64], after: NDArray[np.int64], weights: Floats | None = None
) -> float:
    """Return what remains unknown of the value of before to whoever sees that of after, in bits."""
    joint = before * (int(after.max(initial=0)) + 1) + after
    _, numbers = np.unique(joint, return_inverse=True)
    lost = entropy(np.bincount(numbers, weights)) - entropy(np.bincount(after, weights))
    return lost if lost > 1e-12 else 0.0


def _saturated(first: NDArray[np.int64], second: NDArray[np.int64]) -> float | None:
    """Return pMSE by classes as a share of the most, where a class has some records on average."""
    numbers = class_numbers(first, second)
    n_classes = 1 + max(int(own.max(initial=-1)) for own in numbers)
    if not n_classes or len(first) + len(second) < _RECORDS_A_CLASS * n_classes:
        return None
    counts = [np.bincount(own, minlength=n_classes).tolist() for own in numbers]
    return float(saturated_pmse(*counts)[1])
