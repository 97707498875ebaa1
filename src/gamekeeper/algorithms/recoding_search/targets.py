"""What a recoding must reach, as a measure that never grows where categories are merged.

Only such measures can be searched exactly: what is unsafe stays so under anything finer. Classes
only merge, so records in classes below k and the number of classes (the sum of 1/f over records:
the right matches that a prosecutor expects) are among them. So is IS of records and of the file:
where a minimal unique set S of s variables out of M is lost, (M-s)! goes and at most M-s sets with
(M-s-1)! each come. The SUDA score of 2002 is not: it can rise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.class_tables import ClassTable, Labels


@dataclass(frozen=True, slots=True)
class SmallClasses:
    """At most so many records lie in classes of a size below k."""

    k: int
    most: int = 0

    def shares(self, table: ClassTable) -> NDArray[np.int64]:
        """Return what each class adds to the measure."""
        return np.where(table.sizes < self.k, table.counts, 0)


@dataclass(frozen=True, slots=True)
class ClassNumber:
    """There are at most so many classes: of each, one right match is expected."""

    most: int

    def shares(self, table: ClassTable) -> NDArray[np.int64]:
        """Return what each class adds to the measure."""
        return np.ones(len(table.counts), np.int64)


ClassTarget = SmallClasses | ClassNumber


@dataclass(frozen=True, slots=True)
class MonotoneAttack:
    """A measure of an attack is at most so much.

    `measure` gets a partition of the values of each variable. It must not grow where blocks are
    merged; whoever gives it vouches for that.
    """

    measure: Callable[[Labels], float]
    most: float


Target = ClassTarget | MonotoneAttack


def is_met(target: Target, labels: Labels, table: ClassTable) -> bool:
    """Tell whether a recoding, of which the classes are given, meets a target."""
    if isinstance(target, MonotoneAttack):
        return target.measure(labels) <= target.most
    return int(target.shares(table).sum()) <= target.most
