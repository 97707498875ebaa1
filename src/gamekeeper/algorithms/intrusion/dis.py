"""Data intrusion simulation (DIS), exactly: the probability of a correct match given a unique one.

A record is removed from the file of n records and copied back with the sampling fraction as
probability; then it is matched against the file. Removed one at a time, sample uniques that are
copied back give correct unique matches, and records in pairs that are not give false ones:

    DIS = U f / (U f + P (1 - f)),    U sample uniques, P records in classes of two

(the thesis counts the pairs themselves, P = 2 n2). It is a ratio of expectations: consistent, not
unbiased. When b records are removed together, other outcomes exist and the ratio differs from the
general formula by a relative order of b/n: dis_special.py has it exactly, and
dis_simulation.py by simulation. Elliot and Manning 2003; Skinner and Elliot 2002.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.sampling_fraction import FractionLike, parse_fraction
from gamekeeper.errors import InputError, Problem, Reason


def dis(n_uniques: int, n_paired: int, fraction: FractionLike) -> Fraction | None:
    """Return DIS by the general method, or None where it is 0/0.

    Parameters
    ----------
    n_uniques
        The number of sample uniques (U).
    n_paired
        The number of *records* in classes of two (P), twice the number of such classes.
    fraction
        The sampling fraction (f), above 0 and up to 1.

    Examples
    --------
    >>> dis(1019, 118, "1%")
    Fraction(1019, 12701)
    >>> dis(0, 0, "1%") is None
    True
    """
    return stratified_dis([(n_uniques, n_paired, fraction)])


def stratified_dis(
    strata: Iterable[tuple[int, int, FractionLike]],
) -> Fraction | None:
    """Return DIS where the sampling fraction differs by stratum, or None where it is 0/0.

    A record is copied back with the fraction of its own stratum, so U f and P (1 - f) become sums
    over strata; classes are those of the whole file.

    `strata` has of each its sample uniques, its records in classes of two, and its fraction.

    Examples
    --------
    >>> stratified_dis([(10, 4, "1/10"), (2, 2, "1/2")])
    Fraction(10, 33)
    """
    correct, false = Fraction(0), Fraction(0)
    problems: list[Problem] = []
    for number, (n_uniques, n_paired, given) in enumerate(strata, start=1):
        if min(n_uniques, n_paired) < 0:
            where = f"stratum {number}"
            problems.append(Problem(Reason.BAD_OPTION, where, "A number of records is negative."))
        fraction = parse_fraction(given)
        correct += n_uniques * fraction
        false += n_paired * (1 - fraction)
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "DIS was asked for.",
            "It needs numbers of records, 0 or more.",
            problems=problems,
        )
    return correct / (correct + false) if correct + false else None


def diverged_dis(
    released: NDArray[np.integer[Any]],
    original: NDArray[np.integer[Any]],
    fraction: FractionLike,
) -> Fraction | None:
    """Return DIS of a perturbed release that is attacked with the original keys.

    One record at a time is removed from the release, copied back as released with the sampling
    fraction as probability, and matched by its original key. A unique match is correct where the
    record itself was copied back and still has that key; where its key was changed, it may find
    another record instead. None where no unique match is possible.

    Classes are numbers 0, 1, ... that mean the same key in both; in `original`, -1 is a key that no
    released record has.

    Examples
    --------
    Records 0 and 2 have swapped keys, so both find the other where they should find themselves.

    >>> diverged_dis(np.array([1, 2, 0, 3]), np.array([0, 2, 1, 3]), "1/2")
    Fraction(1, 3)
    """
    counts, own = released_counts(released, original)
    fraction = parse_fraction(fraction)
    correct = int(np.count_nonzero((counts == 1) & own)) * fraction
    copied = int(np.count_nonzero(counts == 1)) * fraction
    not_copied = int(np.count_nonzero(counts - own == 1)) * (1 - fraction)
    return correct / (copied + not_copied) if copied + not_copied else None


def released_counts(
    released: NDArray[np.integer[Any]], original: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return per record the released records with its original key, and whether it is one of them.

    Examples
    --------
    >>> counts, own = released_counts(np.array([0, 0, 1]), np.array([0, 1, -1]))
    >>> counts, own
    (array([2, 1, 0]), array([ True, False, False]))
    """
    given = (np.asarray(released), np.asarray(original))
    is_numbered = given[0].min(initial=0) >= 0 and given[1].min(initial=0) >= -1
    if given[0].shape != given[1].shape or not is_numbered:
        raise InputError(
            Reason.BAD_OPTION,
            f"A release of {len(given[0]):,} records was to be attacked with the originals.",
            f"There are {len(given[1]):,} originals, or some classes have no valid number.",
            "Give the class of every record in both files: 0, 1, ..., in the originals also -1"
            " for a key that no released record has.",
        )
    most = max(int(ids.max(initial=-1)) for ids in given)
    sizes = np.bincount(given[0], minlength=most + 2)
    # The number -1 takes the last place, where no record is.
    return sizes[given[1]].astype(np.int64), given[0] == given[1]
