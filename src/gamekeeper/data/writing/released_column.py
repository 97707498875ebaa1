"""What a column of a released file holds, and how a suppressed cell looks in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gamekeeper.wording import quoted

Bools = NDArray[np.bool_]


class CellLook(StrEnum):
    """How a suppressed cell looks."""

    EMPTY = "empty"
    CODE = "code"
    USER_MISSING = "user missing"


@dataclass(frozen=True, slots=True)
class SuppressedCells:
    """How suppressed cells look in a release.

    Attributes
    ----------
    look
        Empty, a code like any other value, or one that the file declares as missing (SPSS, Stata).
    code
        The code; of a user-missing value of Stata a letter, ".s" if it is "s".
    label
        What SPSS and Stata show for it.
    """

    look: CellLook = CellLook.EMPTY
    code: str = "-9"
    label: str = "suppressed"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ReleasedColumn:
    """The changes of one column, a place for each record that is released.

    A cell that is neither changed nor suppressed stays as the original has it, down to its spaces;
    unless the column is recoded, when all but missing cells have one of the new words.

    Attributes
    ----------
    name
        The column of the original.
    changed, suppressed
        Which cells have another value, and which were suppressed.
    codes, texts
        The new codes, and the text of each code; place 0 is a missing cell.
    numbers
        New numbers instead of codes.
    is_recoded
        Whether every cell has a new category.
    is_coarse
        Whether codes are coarser than the values of the original: a value without a code was not
        looked at, and is released only if it means missing.
    """

    name: str
    changed: Bools
    suppressed: Bools
    codes: NDArray[np.int64] | None = None
    texts: Sequence[str] = ()
    numbers: NDArray[np.float64] | None = None
    is_recoded: bool = False
    is_coarse: bool = False

    @property
    def replaced(self) -> Bools:
        """Which cells get another value; suppressed ones are not among them."""
        if self.is_recoded and self.codes is not None:
            return (self.codes != 0) & ~self.suppressed
        return self.changed & ~self.suppressed

    @property
    def without(self) -> Bools:
        """Which cells have no category: only a cell that means missing may stay there."""
        if (self.is_recoded or self.is_coarse) and self.codes is not None:
            return (self.codes == 0) & ~self.suppressed
        return np.zeros(len(self.suppressed), np.bool_)

    def __repr__(self) -> str:
        return f"ReleasedColumn({quoted([self.name])}, {int(self.replaced.sum()):,} cells)"
