"""What is published of a protected file: what everybody can count in it, and figures that are rounded.

Utility tells of the file as a whole, but exact figures can tell of single cells. Where few cells were
suppressed, the bits that are lost tell how their values were distributed; a mean of before, beside the
one after, tells what the values beyond a limit added up to. So distances, overlaps and correlations
keep two digits, bits one, and of numbers there is how far they moved and no mean of before. Once a cell is
suppressed, nobody is to tell such cells from those that were missing: counted are cells without a value, and
variables with such cells are in no figure that compares them with before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.utility.measuring import UtilityOptions, measure_utility
from gamekeeper.protect.utility.result import Utility
from gamekeeper.results import EVERYTHING, make_listing

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.algorithms.utility.propensity import Propensity

_DIGITS = 2


def public_utility(utility: Utility) -> Utility:
    """Return the utility of a file in rounded figures.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.protect.utility.measuring import measure_utility
    >>> file = coded_from_codes([[1, 1], [2, 1], [2, 2]], ["sex", "job"])
    >>> public_utility(measure_utility(file, file)).variables[0].bits_before
    0.9
    """
    return replace(
        utility,
        variables=tuple(
            replace(
                line,
                bits_before=round(line.bits_before, 1),
                bits_lost=_rounded(line.bits_lost, 1),
                distance=round(line.distance, _DIGITS),
                distance_weighted=_rounded(line.distance_weighted),
                bits_before_weighted=_rounded(line.bits_before_weighted, 1),
                bits_lost_weighted=_rounded(line.bits_lost_weighted, 1),
            )
            for line in utility.variables
        ),
        tables=tuple(
            replace(
                table,
                distance=round(table.distance, _DIGITS),
                distance_weighted=_rounded(table.distance_weighted),
            )
            for table in utility.tables
        ),
        mean_distances=tuple(
            (size, round(mean, _DIGITS), _rounded(weighted))
            for size, mean, weighted in utility.mean_distances
        ),
        propensity=_propensity(utility.propensity),
        propensity_weighted=(
            None
            if utility.propensity_weighted is None
            else _propensity(utility.propensity_weighted)
        ),
        saturated=_rounded(utility.saturated),
        numbers=tuple(
            replace(line, moved=_rounded(line.moved), lost_share=round(line.lost_share, 3))
            for line in utility.numbers
        ),
        correlation_moved=_rounded(utility.correlation_moved),
        eigenvalue_moved=_rounded(utility.eigenvalue_moved),
        analyses=tuple(replace(line, overlap=_rounded(line.overlap)) for line in utility.analyses),
    )


def without_values(protected: Protected, keys: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return, once some cell was suppressed, which cells of each variable have no value in the release.

    Variables are the keys and those that were changed, whether or not a cell of theirs was suppressed:
    else what is missing in those that are not named would be known to have been missing before.
    """
    log, table = protected.log, protected.table
    if not any(log.suppressed(name).any() for name in log.variables):
        return {}
    made: dict[str, NDArray[np.bool_]] = {}
    for name in dict.fromkeys((*keys, *log.variables)):
        recode = log.variables.get(name, VariableChange()).recode
        own = name if recode is None else recode.new_name
        none = log.suppressed(name)
        if own in table.codebook:
            none = none | (table.codes(own) == MISSING)
        elif own in table.numbers:
            none = none | np.isnan(table.number(own))
        if none.any():
            made[name] = none
    return made


def as_shown(protected: Protected, keys: Sequence[str]) -> ChangeLog:
    """Return a log as those outside can make it: every cell without a value counts as suppressed."""
    log, made = protected.log, dict(protected.log.variables)
    for name, none in without_values(protected, keys).items():
        every = np.zeros(log.n_records, dtype=np.bool_)
        every[slice(None) if log.records is None else log.records] = none
        bits, change = np.packbits(every), made.get(name, VariableChange())
        changed = bits if change.changed is None else bits | change.changed
        made[name] = replace(change, changed=changed, suppressed=bits)
    # Nor does their order tell which were suppressed.
    names = dict.fromkeys((*keys, *log.variables))
    return replace(log, variables={name: made[name] for name in names if name in made})


def compared_in_public(made: Protected, setting: Setting, utility: Utility) -> Utility | None:
    """Return the utility of the variables that may be compared in public; None where none may.

    It is measured anew of these alone, so that no figure has to do with cells that may have been
    missing.
    """
    closed = without_values(made, setting.keys)
    if not closed:
        return utility
    names = tuple(line.variable for line in utility.variables if line.variable not in closed)
    if not names:
        return None
    asked = UtilityOptions(variables=names, weight=setting.weight)
    log = replace(
        made.log, variables={n: v for n, v in made.log.variables.items() if n not in closed}
    )
    found = measure_utility(made.before, made.table, asked, log=log, decimal=setting.decimal)
    if not closed.keys() & set(made.before.numbers):
        return found
    return replace(found, numbers=(), pairs=(), correlation_moved=None, eigenvalue_moved=None)


def public_numbers(utility: Utility) -> pa.Table:
    """Return how far numbers moved: cells, means in standard deviations, and deviations as a ratio."""
    rows = [
        (
            line.variable,
            _rounded(line.moved),
            round(line.lost_share, 3),
            _apart(line.mean_before, line.mean_after, line.deviation_before),
            _ratio(line.deviation_before, line.deviation_after),
        )
        for line in utility.numbers
    ]
    columns = ("variable", "moved", "lost_share", "mean moved", "deviation after by before")
    return make_listing("numbers", columns, rows, EVERYTHING).to_arrow()


def public_pairs(utility: Utility) -> pa.Table:
    """Return the correlations of numbers before and after."""
    rows = [
        (
            pair.first,
            pair.second,
            _rounded(pair.correlation_before),
            _rounded(pair.correlation_after),
        )
        for pair in utility.pairs
    ]
    columns = ("first", "second", "correlation_before", "correlation_after")
    return make_listing("correlations", columns, rows, EVERYTHING).to_arrow()


def _propensity(found: Propensity) -> Propensity:
    return replace(
        found,
        pmse=_rounded(found.pmse, 3),
        of_most=_rounded(found.of_most),
        expected=round(found.expected, 3),
        ratio=_rounded(found.ratio, 1),
    )


def _rounded(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None else round(value, digits)


def _apart(before: float | None, after: float | None, deviation: float | None) -> float | None:
    if before is None or after is None or not deviation:
        return None
    return round((after - before) / deviation, _DIGITS)


def _ratio(before: float | None, after: float | None) -> float | None:
    return None if after is None or not before else round(after / before, _DIGITS)
