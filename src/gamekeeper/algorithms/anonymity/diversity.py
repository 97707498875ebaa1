"""l-diversity: how many values of a sensitive variable there are in a class, in three senses.

Distinct: the number of different values. Entropy: exp(H), with H the entropy of the values in the
class, so that a class of l equally frequent values has l. Recursive (c, l): with the values' counts
r_1 >= r_2 >= ... it holds where r_1 < c (r_l + r_(l+1) + ...); reported is the largest l for which it
holds. A class with one value has 1 in every sense: by definition r_1 < c r_1 for c > 1, and for c <= 1
it holds for no l, hence 0. A missing cell counts as no value; a class without any value has 0.
Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007. One sort of the pairs of class and value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class ValueCounts:
    """The values of a variable in each class: one line per class and value that occurs there.

    Lines are sorted by class, then by value. `n_classes` classes are numbered from 0; values are
    codes from 1 to `n_values`, those that occur nowhere included.
    """

    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_classes: int
    n_values: int

    def __repr__(self) -> str:
        return f"ValueCounts({self.n_classes:,} classes, {len(self.counts):,} lines)"

    def totals(self) -> NDArray[np.int64]:
        """Return how many values each class has, each counted as often as it occurs."""
        made = np.zeros(self.n_classes, dtype=np.int64)
        np.add.at(made, self.classes, self.counts)
        return made


@dataclass(frozen=True, slots=True, repr=False)
class Diversity:
    """l of each class in three senses."""

    distinct: NDArray[np.int64]
    entropy: NDArray[np.float64]
    recursive: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Diversity({len(self.distinct):,} classes)"


def count_values(
    classes: NDArray[np.integer[Any]],
    values: NDArray[np.integer[Any]],
    n_values: int,
    counts: NDArray[np.int64] | None = None,
) -> ValueCounts:
    """Count the values of each class.

    A class below 0 is that of a record that was left out, and the value 0 a missing cell; values
    are from 1 to `n_values`. `counts` says for how many records each stands; one if None.

    Examples
    --------
    >>> found = count_values(np.array([0, 0, 1, 1]), np.array([2, 2, 1, 0]), 2)
    >>> found.classes.tolist(), found.values.tolist(), found.counts.tolist()
    ([0, 1], [2, 1], [2, 1])
    """
    n_classes = int(classes.max(initial=-1)) + 1
    known = (classes >= 0) & (values > 0)
    packed = classes[known].astype(np.int64) * (n_values + 1) + values[known]
    if counts is None:
        pairs, sums = np.unique(packed, return_counts=True)
    else:
        pairs, line = np.unique(packed, return_inverse=True)
        sums = np.bincount(line, counts[known], len(pairs))
    return ValueCounts(
        pairs // (n_values + 1),
        pairs % (n_values + 1),
        sums.astype(np.int64),
        n_classes,
        n_values,
    )


def diversity(found: ValueCounts, c: Fraction) -> Diversity:
    """Return l of each class; `c`, above 0, is that of recursive diversity.

    Examples
    --------
    >>> counts = count_values(np.array([0, 0, 0, 0]), np.array([1, 1, 2, 3]), 3)
    >>> found = diversity(counts, Fraction(2))
    >>> found.distinct.tolist(), found.entropy.round(4).tolist(), found.recursive.tolist()
    ([3], [2.8284], [2])
    """
    n, totals = found.n_classes, found.totals()
    distinct = np.bincount(found.classes, minlength=n).astype(np.int64)
    share = found.counts / totals[found.classes]
    entropy = np.bincount(found.classes, weights=-share * np.log(share), minlength=n)
    by_entropy = np.where(distinct > 0, np.exp(entropy), 0.0)
    return Diversity(distinct, by_entropy, _recursive(found, c))


def _recursive(found: ValueCounts, c: Fraction) -> NDArray[np.int64]:
    """Return the largest l for which r_1 < c (r_l + ... + r_m), in whole numbers."""
    order = np.lexsort((-found.counts, found.classes))
    classes, counts = found.classes[order], found.counts[order]
    starts = np.searchsorted(classes, np.arange(found.n_classes))
    before = np.concatenate(([0], np.cumsum(counts)))
    ends = np.append(starts[1:], len(classes))
    # What is left from each line to the end of its class, the line included.
    left = before[ends[classes]] - before[:-1]
    largest = counts[starts[classes]] if len(classes) else counts
    holds = largest * c.denominator < left * c.numerator
    return np.bincount(classes[holds], minlength=found.n_classes).astype(np.int64)
