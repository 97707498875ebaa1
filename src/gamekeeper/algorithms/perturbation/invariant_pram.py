"""PRAM: categories drawn anew by known probabilities, so that counts stay as they are on average.

With P[a, b] the probability that category a becomes b and t[a] the records of a, the way back is
P'[b, a] = P[a, b] t[a] / sum over c of P[c, b] t[c]: who is seen with b and has a. One after the other,
R = P P', leaves the expected counts as they are: t R = t (invariant PRAM). A mix of R and the identity
does so too, and changes less. A category that no record has keeps its own row, and so does one into
which nothing is drawn.

Gouweleeuw, Kooiman, Willenborg and de Wolf, Post randomisation for statistical disclosure control,
Journal of Official Statistics 14 (1998). Exact with fractions, else in floats; n log n to draw, and
the third power of the number of categories to make R.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

LEAST_RECORDS = 10
"""The fewest records of a stratum among which categories are drawn."""

Matrix = NDArray[Any]
_ROUNDING = 1e-9


def staying(
    n_categories: int, keep: float | Fraction, blocks: Sequence[int] | None = None
) -> Matrix:
    """Return probabilities by which a category stays as it is or becomes another, each as often.

    The probability to stay is above 0. With `blocks`, a number per category, only categories with
    the same number become one another; one that is alone in its block stays.

    Examples
    --------
    >>> staying(3, Fraction(4, 5), [0, 0, 1]).tolist()
    [[Fraction(4, 5), Fraction(1, 5), 0], [Fraction(1, 5), Fraction(4, 5), 0], [0, 0, 1]]
    """
    if not 0 < keep <= 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Categories were to stay with probability {keep}.",
            "A probability to stay is above 0, up to 1.",
            "Give such a number; 0.8 is usual.",
        )
    within = np.asarray(blocks if blocks is not None else [0] * n_categories)
    alike = within[:, None] == within[None, :]
    others = alike.sum(axis=1) - 1
    exact = isinstance(keep, Fraction)
    matrix: Matrix = np.zeros((n_categories, n_categories), dtype=object if exact else np.float64)
    for row in range(n_categories):
        if others[row]:
            matrix[row, alike[row]] = (1 - keep) / int(others[row])
        matrix[row, row] = keep if others[row] else 1
    return matrix


def back_matrix(counts: ArrayLike, matrix: Any) -> Matrix:
    """Return who is behind each drawn category: P'[b, a] = P[a, b] t[a] / sum.

    A category into which nothing is drawn has its own row of the identity.

    Examples
    --------
    >>> back_matrix([3, 1], [[0.5, 0.5], [0.0, 1.0]]).tolist()
    [[1.0, 0.0], [0.6, 0.4]]
    """
    given, records = _checked(counts, matrix)
    joint = (given * records[:, None]).T
    total = joint.sum(axis=1)
    back = np.zeros_like(joint)
    for place, whole in enumerate(total):
        if whole:
            back[place] = joint[place] / whole
        else:
            back[place, place] = whole + 1
    return back


def invariant_matrix(
    counts: ArrayLike, matrix: Any, share: float | Fraction = Fraction(1)
) -> Matrix:
    """Return probabilities that leave the expected counts as they are.

    Sums of weights serve as counts too. P has a row per category and is exact where its numbers are
    fractions; `share` is how much of R there is in the mix, and the rest is the identity.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> [list(map(str, row)) for row in invariant_matrix([3, 1], [[half, half], [0, 1]])]
    [['4/5', '1/5'], ['3/5', '2/5']]
    """
    given, records = _checked(counts, matrix)
    if not 0 <= share <= 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A share of {share} was to be drawn anew.",
            "A share is between 0 and 1.",
            "Give such a number.",
        )
    back = back_matrix(records, given)
    # Exact numbers are objects, which have no fast product.
    both = given.dot(back)
    one = Fraction(1) if both.dtype == object else 1.0
    part = Fraction(share) if both.dtype == object else float(share)
    for place, n_records in enumerate(records):
        row = both[place] * part if n_records else both[place] * 0
        row[place] += one - part if n_records else one
        both[place] = row
    return both


def expected_unchanged(counts: ArrayLike, matrix: Any) -> Any:
    """Return the share of records that keep their category on average."""
    given, records = _checked(counts, matrix)
    return (records * given.diagonal()).sum() / records.sum()


def count_variances(counts: ArrayLike, matrix: Any) -> Matrix:
    """Return the variance of the number of records of each category after drawing."""
    given, records = _checked(counts, matrix)
    return (records[:, None] * given * (1 - given)).sum(axis=0)


def drawn_codes(
    codes: NDArray[np.integer], matrix: ArrayLike, draws: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return categories drawn anew; row a of the matrix is for those with category a.

    Codes count from 0, and missing cells are not among them; `draws` are numbers from 0 to below 1.

    Examples
    --------
    >>> codes, draws = np.array([0, 0, 1]), np.array([0.1, 0.9, 0.7])
    >>> drawn_codes(codes, [[0.5, 0.5], [0.0, 1.0]], draws).tolist()
    [0, 1, 1]
    """
    given = np.asarray(matrix, dtype=np.float64)
    drawn = np.asarray(codes, dtype=np.int64).copy()
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(given) + 1))
    for category, row in enumerate(given):
        own = order[bounds[category] : bounds[category + 1]]
        if not len(own) or row[category] == 1:
            continue
        possible = np.flatnonzero(row > 0)
        ends = np.cumsum(row[possible])
        # The last may be below 1 by rounding, and no draw may fall beyond it.
        places = np.searchsorted(ends[:-1] / ends[-1], draws[own], "right")
        drawn[own] = possible[places]
    return drawn


def _checked(counts: ArrayLike, matrix: Any) -> tuple[Matrix, Matrix]:
    given: Matrix = np.array(matrix)
    exact = given.dtype == object or given.dtype.kind in "iu"
    if exact:
        whole = np.empty(given.shape, dtype=object)
        for place, number in np.ndenumerate(given):
            whole[place] = Fraction(number if isinstance(number, Fraction) else int(number))
        given = whole
    records: Matrix = np.asarray(counts)
    if exact:
        records = np.array([Fraction(number) for number in records.tolist()], dtype=object)
    else:
        records = records.astype(np.float64)
    problems: list[Problem] = []
    if given.ndim != 2 or given.shape != (len(records), len(records)):
        found = f"It has the shape {given.shape}, and there are {len(records)} categories."
        problems.append(Problem(Reason.BAD_OPTION, "the matrix", found))
    else:
        n_negative = sum(bool((row < 0).any()) for row in given)
        uneven = sum(bool(abs(row.sum() - 1) > (0 if exact else _ROUNDING)) for row in given)
        for number, what in ((n_negative, "a negative number"), (uneven, "a sum that is not 1")):
            if number:
                has = count_of(number, "row has", "rows have")
                problems.append(Problem(Reason.BAD_OPTION, "the matrix", f"{has} {what}."))
    if (records < 0).any():
        problems.append(Problem(Reason.BAD_OPTION, "the counts", "Some are negative."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Categories were to be drawn anew by a matrix of probabilities.",
            "It cannot be used.",
            "Give a row per category, of probabilities that add up to 1.",
            problems=problems,
        )
    return given, records
