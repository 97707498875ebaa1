"""Worked examples of perturbation: microaggregation, PRAM, rank swapping."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gamekeeper.algorithms.perturbation.microaggregation import (
    error_share,
    mdav_groups,
    univariate_groups,
)
from gamekeeper.algorithms.perturbation.pram import (
    back_matrix,
    count_variances,
    expected_unchanged,
    invariant_matrix,
)
from tests.reference.cases import Case
from tests.reference.data_files import rows_of_case
from tests.reference.numbers import check_each, check_number
from tests.twins.swap_checks import check_household_swap, check_swap

__all__ = [
    "PROTECT_PERTURBATION",
    "household_swap",
    "mdav",
    "mdav_of_file",
    "pram",
    "rank_swap",
    "univariate_microaggregation",
]

_CASC = (
    "AFNLWGT", "AGI", "EMCONTRB", "ERNVAL", "FEDTAX", "FICA", "INTVAL", "PEARNVAL", "POTHVAL",
    "PTOTVAL", "STATETAX", "TAXINC", "WSALVAL",
)  # fmt: skip
"""The numbers of the reference file of the CASC project."""


def mdav(case: Case) -> None:
    rows, standardize = case.needs("rows"), bool(case.needs("standardize"))
    labels = mdav_groups(rows, int(case.needs("k")), standardize=standardize)
    groups = [np.flatnonzero(labels == group).tolist() for group in range(int(labels.max()) + 1)]
    case.compare("groups", groups, canonical=lambda given: [sorted(group) for group in given])
    if case.defines("sse_share"):
        found = error_share(rows, labels, standardize=standardize)
        check_number(case, "sse_share", case.expected["sse_share"], found)


def univariate_microaggregation(case: Case) -> None:
    values = [Fraction(str(value)) for value in case.needs("values")]
    labels = univariate_groups([float(value) for value in values], int(case.needs("k")))
    groups = [
        [values[place] for place in np.flatnonzero(labels == group)]
        for group in range(int(labels.max()) + 1)
    ]
    error = Fraction(0)
    for group in groups:
        mean = sum(group) / Fraction(len(group))
        error += sum((value - mean) ** 2 for value in group)
    if case.defines("least_sse"):
        check_number(case, "least_sse", case.expected["least_sse"], error)
    case.compare("group_sizes_in_sorted_order", [len(group) for group in groups])


def pram(case: Case) -> None:
    counts = [int(count) for count in case.needs("counts")]
    matrix = [[Fraction(str(cell)) for cell in row] for row in case.needs("matrix")]
    invariant = invariant_matrix(counts, matrix, Fraction(str(case.given.get("share", 1))))
    case.compare("back_matrix", _texts(back_matrix(counts, matrix)), canonical=_texts)
    case.compare("invariant_matrix", _texts(invariant), canonical=_texts)
    after = [[sum(n * row[place] for n, row in zip(counts, invariant, strict=True))
              for place in range(len(counts))]]  # fmt: skip
    case.compare("expected_counts_after", _texts(after)[0], canonical=lambda row: _texts([row])[0])
    if case.defines("expected_share_unchanged"):
        found = expected_unchanged(counts, invariant)
        check_number(
            case, "expected_share_unchanged", case.expected["expected_share_unchanged"], found
        )
    check_each(case, "variance_of_count_after", count_variances(counts, invariant).tolist())


def rank_swap(case: Case) -> None:
    share = Fraction(str(case.needs("max_rank_difference_share")))
    found = check_swap(case.needs("before"), case.needs("after"), share)
    for name in ("same_values", "rank_differences", "within_limit", "unchanged"):
        case.compare(name, getattr(found, name))


def household_swap(case: Case) -> None:
    found = check_household_swap(
        case.needs("before"),
        case.needs("after"),
        household=case.needs("household"),
        geography=case.needs("geography"),
        match_on=case.needs("match_on"),
    )
    for name in found._fields:
        case.compare(name, getattr(found, name))


def mdav_of_file(case: Case) -> None:
    rows = rows_of_case(case, _CASC)
    values = np.array([[float(cell) for cell in row] for row in rows])
    found = [error_share(values, mdav_groups(values, int(k))) for k in case.needs("k")]
    # Eight digits are given.
    check_each(case, "sse_share", found, absolute=1e-8)


def _texts(matrix: Any) -> list[list[str]]:
    return [[str(Fraction(str(cell))) for cell in row] for row in matrix]


PROTECT_PERTURBATION = {
    "protect_mdav": mdav,
    "protect_univariate_microaggregation": univariate_microaggregation,
    "protect_pram": pram,
    "protect_rank_swap": rank_swap,
    "protect_household_swap": household_swap,
}
"""The kinds checked here; they join the runner's."""
