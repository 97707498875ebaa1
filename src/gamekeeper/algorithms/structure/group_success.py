"""How many records lie in the class that their class was matched with, against chance.

This is Torra's measure of re-identification at the level of groups. It says nothing by itself: with
one class per file all records are right. By chance, were the records of B dealt to its classes at
random, a record of a class matched with a class of n_b records would lie in it with probability n_b
over the records of B.

Torra, Towards the re-identification of individuals in data files with non-common variables,
section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.structure.conjunction import Conjunction
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of


@dataclass(frozen=True, eq=False, repr=False)
class GroupSuccess:
    """Records re-identified at the level of groups.

    Attributes
    ----------
    is_correct
        For each record of A whether its true record is in the class pointed at.
    n_known
        The records of A that have a true record in B.
    by_chance
        The number expected to be correct by chance.
    alone
        The number of correct records whose class of B holds no other record.
    """

    is_correct: NDArray[np.bool_]
    n_known: int
    by_chance: float
    alone: int

    @property
    def n_correct(self) -> int:
        """The number of correct records."""
        return int(self.is_correct.sum())

    @property
    def share(self) -> float:
        """The share of correct records among those known; 0 if none is known."""
        return self.n_correct / max(self.n_known, 1)

    def __repr__(self) -> str:
        return (
            f"GroupSuccess({self.n_correct:,} of {self.n_known:,} correct,"
            f" {self.by_chance:.1f} by chance)"
        )


def group_success(pointed: ArrayLike, b: Conjunction, truth: ArrayLike) -> GroupSuccess:
    """Compare the classes that records were pointed at with the truth.

    Parameters
    ----------
    pointed
        For each record of A a class of B, -1 for none: `matching.groups[a.classes]` where classes
        were matched, `b.classes[matching.groups]` where records were.
    b
        The classes of B.
    truth
        For each record of A the number of its record of B, -1 where there is none.

    Examples
    --------
    >>> from gamekeeper.algorithms.structure.group_matching import match_groups
    >>> from gamekeeper.algorithms.structure.conjunction import conjunction
    >>> a, b = conjunction([[0], [0], [1]]), conjunction([[7], [8], [8]])
    >>> matching = match_groups(a.rows, b.rows, sizes=(a.sizes, b.sizes))
    >>> group_success(matching.groups[a.classes], b, [2, 1, 0])
    GroupSuccess(3 of 3 correct, 1.7 by chance)
    """
    classes = np.asarray(pointed, dtype=np.int64)
    links = checked_truth(truth, len(classes), len(b.classes))
    is_known = links >= 0
    is_correct = is_known & (classes >= 0) & (b.classes[links] == classes)
    sizes = np.where(classes >= 0, b.sizes[classes], 0)
    return GroupSuccess(
        is_correct,
        int(is_known.sum()),
        float(sizes[is_known].sum()) / len(b.classes),
        int((is_correct & (sizes == 1)).sum()),
    )


def checked_truth(truth: ArrayLike, n_a: int, n_b: int) -> NDArray[np.int64]:
    """Return true links as numbers of records of B, or refuse what cannot be."""
    links = np.asarray(truth)
    if links.shape == (n_a,) and np.issubdtype(links.dtype, np.integer):
        known = links[links >= 0]
        is_single = len(np.unique(known)) == len(known) > 0
        if is_single and int(links.min()) >= -1 and int(known.max()) < n_b:
            return links.astype(np.int64)
    raise InputError(
        Reason.BAD_OPTION,
        "A comparison of links with the truth was asked for.",
        f"The truth does not link {count_of(n_a, 'record')} with different ones of {n_b:,}.",
        "Give for each record of A the number of its record of B from 0, or -1, at least one known.",
    )
