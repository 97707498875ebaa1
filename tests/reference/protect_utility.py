"""Worked examples of utility: distances of margins, propensity, overlap of intervals, IL1s."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.utility import (
    il1s,
    margin_distances,
    mean_distances,
    overlap,
    saturated_pmse,
    signed_overlap,
)
from tests.reference.cases import Case, ShapeError
from tests.reference.numbers import check_number
from tests.twins.key_classes import discernibility, mean_class_size

__all__ = ["PROTECT_UTILITY", "cell_loss", "interval_overlap", "utility"]


def cell_loss(case: Case) -> None:
    before, after = (
        [[float(Fraction(str(cell))) for cell in row] for row in case.needs(name)]
        for name in ("before", "after")
    )
    found = il1s(before, after)
    for name, value in (("il1s_sum", found.total), ("il1s_mean_per_cell", found.per_cell)):
        if case.defines(name):
            check_number(case, name, case.expected[name], value)


def interval_overlap(case: Case) -> None:
    given = case.needs("intervals")
    if len(given) != 2:
        raise ShapeError("there are not two intervals")
    first, second = ((Fraction(str(low)), Fraction(str(high))) for low, high in given)
    signed = signed_overlap(first, second)
    for name, value in (("overlap", overlap(first, second)), ("overlap_signed", signed)):
        if case.defines(name):
            exact = None if value is None else Fraction(value)
            check_number(case, name, case.expected[name], exact)


def utility(case: Case) -> None:
    before, after = (np.array(case.needs(name)) for name in ("before", "after"))
    both = np.concatenate((before, after))
    # Categories may have any numbers.
    both = np.stack([np.unique(column, return_inverse=True)[1] for column in both.T], axis=1)
    before, after = both[: len(before)], both[len(before) :]
    distances = margin_distances(before, after)
    named = {"+".join(map(str, margin.variables)): margin.distance for margin in distances}
    means = {str(size): mean for size, mean in mean_distances(distances).items()}
    for name, found in (("hellinger", named), ("mean_hellinger", means)):
        if case.defines(name):
            expected = case.expected[name]
            case.check(name, "in number", len(expected), len(found))
            for key, value in expected.items():
                check_number(case, name, value, found.get(key), f"of {key}")
    _, classes = np.unique(both, axis=0, return_inverse=True)
    n_classes = int(classes.max()) + 1
    old = np.bincount(classes[: len(before)], minlength=n_classes)
    new = np.bincount(classes[len(before) :], minlength=n_classes)
    pmse, of_most = saturated_pmse(old.tolist(), new.tolist())
    sizes = new[new > 0].tolist()
    for name, found in (
        ("pmse_saturated", pmse),
        ("pmse_saturated_of_its_maximum", of_most),
        ("mean_class_size", mean_class_size(sizes)),
    ):
        if case.defines(name):
            check_number(case, name, case.expected[name], found)
    case.compare("discernibility", discernibility(sizes))


PROTECT_UTILITY = {
    "protect_il1s": cell_loss,
    "protect_interval_overlap": interval_overlap,
    "protect_utility": utility,
}
"""The kinds checked here; they join the runner's."""
