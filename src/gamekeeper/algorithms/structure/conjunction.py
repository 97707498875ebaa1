"""The conjunction of several partitions of the records of a file: who is together in all of them.

Two records are in one class exactly where every clustering puts them in one cluster; by a theorem
of Fishburn and Rubinstein every consistent way to aggregate partitions is of this kind. A class has
one label per clustering, the row by which it is matched with the classes of another file.

Torra, Towards the re-identification of individuals in data files with non-common variables,
section 3. It costs one sort of the records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.structure.clusterings import dense_labels
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of


@dataclass(frozen=True, eq=False, repr=False)
class Conjunction:
    """The classes of records that no clustering separates, ordered by their first records.

    Attributes
    ----------
    classes
        The class of each record.
    rows
        The labels of each class, one column per clustering.
    sizes
        The number of records of each class.
    """

    classes: NDArray[np.int64]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def taken(self, records: ArrayLike) -> tuple[Conjunction, NDArray[np.int64]]:
        """Return the classes of the records in another order, and the new number of each class.

        Examples
        --------
        >>> found, numbers = conjunction([[5], [6], [5]]).taken([1, 0, 2])
        >>> found.classes, numbers
        (array([0, 1, 1]), array([1, 0]))
        """
        before = self.classes[np.asarray(records, dtype=np.int64)]
        classes = dense_labels(before)
        numbers = np.empty(len(self.sizes), np.int64)
        numbers[before] = classes
        order = np.argsort(numbers)
        return Conjunction(classes, self.rows[order], self.sizes[order]), numbers

    def __repr__(self) -> str:
        return (
            f"Conjunction({count_of(len(self.rows), 'class', 'classes')} of"
            f" {count_of(len(self.classes), 'record')})"
        )


def conjunction(labels: ArrayLike) -> Conjunction:
    """Intersect partitions of the same records.

    Parameters
    ----------
    labels
        One row per record, one column of whole numbers per clustering.

    Examples
    --------
    >>> found = conjunction([[0, 0], [0, 1], [0, 0], [1, 1]])
    >>> found
    Conjunction(3 classes of 4 records)
    >>> found.classes, found.sizes
    (array([0, 1, 0, 2]), array([2, 1, 1]))
    """
    matrix = np.asarray(labels)
    if matrix.ndim != 2 or not matrix.size or not np.issubdtype(matrix.dtype, np.integer):
        raise InputError(
            Reason.WRONG_SCHEMA,
            "The conjunction of clusterings was asked for.",
            "What was given is not a table of whole numbers with rows and columns.",
            "Give one row per record and one column of labels per clustering.",
        )
    classes = dense_labels(class_numbers(matrix)[0])
    _, first, sizes = np.unique(classes, return_index=True, return_counts=True)
    return Conjunction(classes, matrix[first].astype(np.int64), sizes.astype(np.int64))
