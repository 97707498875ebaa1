"""Which pairs of records of two files are compared: all, or those that one of several passes takes.

A pass takes the pairs that agree in some variables (that are compatible, where categories are
mapped), those within some places of each other in the order of a variable (the sorted neighbourhood
of Hernández and Stolfo 1995), or those that are nearest by all numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.blocking import (
    block_nearest,
    block_on_sinks,
    block_on_values,
    block_sorted,
)
from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs, unite
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.attack.linkage.columns.variables import Kind, LinkVariable, equal_codes
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Compared:
    """Two files, the variables they are compared on, and how.

    The comparisons have the records of each file in the order that is given for it.
    """

    a: CodedTable
    b: CodedTable
    orders: tuple[Integers, Integers]
    variables: Sequence[LinkVariable]
    comparisons: Sequence[Comparison]

    def named(self, names: Sequence[str]) -> list[tuple[LinkVariable, Comparison]]:
        """Return variables by name; refuse those that are not compared."""
        places = {one.name: place for place, one in enumerate(self.variables)}
        unknown = [name for name in names if name not in places]
        if unknown:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"Pairs were to be blocked on {quoted(unknown)}.",
                "That is not among the variables that are compared.",
                did_you_mean(unknown[0], places),
            )
        return [(self.variables[places[n]], self.comparisons[places[n]]) for n in names]

    def codes(self, variable: LinkVariable, comparison: Comparison) -> tuple[Integers, Integers]:
        """Return codes in the order of the values, equal where these are; 0 for missing."""
        back = [np.argsort(order) for order in self.orders]
        in_file = replace(comparison, a=comparison.a[back[0]], b=comparison.b[back[1]])
        left, right = equal_codes(self.a, self.b, variable, in_file)
        return left[self.orders[0]], right[self.orders[1]]


def candidates(
    compared: Compared,
    *,
    block: Sequence[str],
    window: Mapping[str, int],
    neighbours: int | None,
    max_pairs: int,
) -> CandidatePairs | None:
    """Return the pairs that any pass takes; None where all pairs are to be compared."""
    passes: list[CandidatePairs] = []
    if block:
        passes.append(_agreeing(compared, block, max_pairs))
    for (variable, comparison), places in zip(
        compared.named(list(window)), window.values(), strict=True
    ):
        if variable.kind is Kind.MAPPED:
            raise InputError(
                Reason.BAD_OPTION,
                f"Records were to be sorted by {quoted([variable.name])} (--window).",
                "It is mapped, and mapped categories have no order.",
                "Block on it (--block), or sort by another.",
            )
        codes = compared.codes(variable, comparison)
        ranks = [np.where(side > 0, side.astype(np.float64), np.nan) for side in codes]
        passes.append(block_sorted(ranks[0], ranks[1], places, max_pairs=max_pairs))
    if neighbours is not None:
        left, right = _scaled(compared)
        passes.append(block_nearest(left, right, neighbours, max_pairs=max_pairs))
    return unite(passes) if passes else None


def passes_text(block: Sequence[str], window: Mapping[str, int], neighbours: int | None) -> str:
    """Return the passes in words.

    Examples
    --------
    >>> passes_text(["sex"], {"age": 5}, 10)
    'sex, age within 5 places, 10 neighbours'
    """
    words = [*block, *(f"{name} within {count_of(n, 'place')}" for name, n in window.items())]
    if neighbours is not None:
        words.append(count_of(neighbours, "neighbour"))
    return ", ".join(words)


def _agreeing(compared: Compared, block: Sequence[str], max_pairs: int) -> CandidatePairs:
    chosen = compared.named(block)
    mapped = [one for variable, one in chosen if variable.kind is Kind.MAPPED]
    equal = [compared.codes(*one) for one in chosen if one[0].kind is not Kind.MAPPED]
    equal_a, equal_b = [left for left, _ in equal], [right for _, right in equal]
    if not mapped:
        return block_on_values(equal_a, equal_b, max_pairs=max_pairs)
    tables = [np.isfinite(one.table) for one in mapped if one.table is not None]
    return block_on_sinks(
        [one.a for one in mapped],
        [one.b for one in mapped],
        tables,
        equal_a=equal_a,
        equal_b=equal_b,
        max_pairs=max_pairs,
    )


def _scaled(compared: Compared) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numbers, dates and ranks of both files, in units of their standard deviations."""
    numbers = [one for one in compared.comparisons if one.a.dtype.kind == "f"]
    if not numbers:
        raise InputError(
            Reason.BAD_OPTION,
            "Each record was to be compared with its nearest (--neighbours).",
            "No variable is compared as a number, a date or by rank.",
            "Say which is (--kind COLUMN=number), or leave it out.",
        )
    scales = [float(np.nanstd(np.concatenate((one.a, one.b)))) or 1.0 for one in numbers]
    left, right = (
        np.column_stack([side / scale for side, scale in zip(sides, scales, strict=True)])
        for sides in ([one.a for one in numbers], [one.b for one in numbers])
    )
    return left, right
