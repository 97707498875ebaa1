"""Utility as it is published: figures that are rounded, and none of the original itself.

Utility tells of the file as a whole, but exact figures can tell of single cells. Where few cells were
suppressed, the bits that are lost tell how their values were distributed; a mean of before, beside the
one after, tells what the values beyond a limit added up to. So distances, overlaps and correlations
keep two digits, bits one, and of numbers there is how far they moved and no mean of before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
