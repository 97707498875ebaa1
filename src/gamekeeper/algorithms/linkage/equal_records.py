"""Records of one file that are equal in all that is compared, as microaggregation makes them.

Groups are numbered by their values. A record costs one place in a sort per variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.comparison import Comparison

Integers = NDArray[np.int64]

_MANY = 0.1
_FEW_ALONE = 0.01


@dataclass(frozen=True, eq=False)
class EqualRecords:
    """The groups of equal records of one file.

    Attributes
    ----------
    groups
        The group of each record, from 0.
    sizes
        The number of records of each group.
    firsts
        One record of each group.
    """

    groups: Integers = field(repr=False)
    sizes: Integers = field(repr=False)
    firsts: Integers = field(repr=False)

    @property
    def are_many(self) -> bool:
        """Whether more than a tenth of the records are equal to another."""
        return float(self.sizes[self.sizes > 1].sum()) > _MANY * len(self.groups)

    @property
    def are_whole(self) -> bool:
        """Whether hardly a record (1%) is alone, as in a file that was microaggregated as a whole.

        In a part of such a file, groups have lost members: they still tell of people who are not
        there.
        """
        alone = int(np.count_nonzero(self.sizes == 1))
        return self.are_many and alone <= _FEW_ALONE * len(self.groups)


def equal_records(comparisons: Sequence[Comparison], side: int) -> EqualRecords:
    """Find the groups of equal records of the first (0) or second (1) file.

    Examples
    --------
    >>> age = Comparison("Age", "absolute", np.array([3.0, 2.0, 3.0, np.nan]), np.zeros(1))
    >>> found = equal_records([age], 0)
    >>> found.groups.tolist(), found.sizes.tolist(), found.firsts.tolist()
    ([1, 0, 1, 2], [1, 2, 1], [1, 0, 3])
    """
    codes = [
        np.unique(one.b if side else one.a, return_inverse=True)[1].ravel() for one in comparisons
    ]
    rows = np.column_stack([code.astype(np.int32) for code in codes])
    _, firsts, groups, sizes = np.unique(
        rows, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return EqualRecords(
        groups.ravel().astype(np.int64), sizes.astype(np.int64), firsts.astype(np.int64)
    )
