"""A recoding of one variable, as integers: which new code each old code becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted


@dataclass(frozen=True, repr=False, eq=False)
class Recode:
    """How the codes of a variable become coarser ones.

    Parameters
    ----------
    variable
        The name of the variable whose codes are replaced.
    codes
        The new code of each old code; place 0 is the missing cell.
    words
        What each new code means; place 0 is the missing cell.
    name
        The name of the new variable; the old one when empty.

    Examples
    --------
    >>> coarse = Recode("age", [0, 1, 1, 2], ("missing", "young", "old"))
    >>> coarse.codes.tolist(), coarse.new_name
    ([0, 1, 1, 2], 'age')
    """

    variable: str
    codes: npt.NDArray[np.int64]
    words: tuple[str, ...]
    name: str = ""

    def __init__(
        self, variable: str, codes: npt.ArrayLike, words: Sequence[str], name: str = ""
    ) -> None:
        object.__setattr__(self, "variable", variable)
        object.__setattr__(self, "codes", _checked(variable, codes, len(words)))
        object.__setattr__(self, "words", tuple(words))
        object.__setattr__(self, "name", name)

    @property
    def new_name(self) -> str:
        """The name of the recoded variable."""
        return self.name or self.variable

    def __repr__(self) -> str:
        return f"Recode({quoted([self.variable])}, {len(self.codes)} codes to {len(self.words)})"


@dataclass(frozen=True, slots=True)
class Change:
    """What a recoding did to a variable.

    Attributes
    ----------
    variable
        Its name.
    before, after
        How many categories it had, and has.
    way
        The rule as it is written, which may name categories.
    """

    variable: str
    before: int
    after: int
    way: str

    @property
    def text(self) -> str:
        """What was done and by which rule."""
        return f"{self._words} ({self.way})."

    @property
    def outline(self) -> str:
        """What was done, without the rule: for people who may not know of categories."""
        return f"{self._words}."

    @property
    def _words(self) -> str:
        name = quoted([self.variable])
        if self.before == self.after:
            return f"{name}: no categories are put together"
        became = count_of(self.before, "category becomes", "categories become")
        return f"{name}: {became} {self.after:,}"


def _checked(variable: str, codes: npt.ArrayLike, n_words: int) -> npt.NDArray[np.int64]:
    array = np.asarray(codes)
    found = ""
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        found = "The new codes are not one row of integers."
    else:
        outside = int(np.count_nonzero((array < 0) | (array >= n_words)))
        if outside:
            found = (
                f"{count_of(outside, 'code')} of {array.size:,} "
                f"{'has' if outside == 1 else 'have'} no word: there are {n_words:,} words."
            )
    if found:
        raise InputError(
            Reason.BAD_OPTION,
            f"Variable {quoted([variable])} was to be recoded.",
            found,
            "Give one new code per old code, each a place in the list of words.",
            problems=[Problem(Reason.BAD_OPTION, f"variable {quoted([variable])}", found)],
        )
    fixed = array.astype(np.int64)
    fixed.setflags(write=False)
    return fixed
