"""When somebody who knows people recovers a zero: a published table, alone or with its total.

A table with true counts c is published within limits l <= c <= u for each cell, perhaps with its
total T within l_t <= T <= u_t. Somebody knows s people per cell, s <= c, and therefore that no
cell is below s. A zero is recovered in cell j when nobody unknown can be there: s_j = c_j = u'_j,
where u'_j is the largest count that cell j can have (Smith's thesis, chapter 3, with x >= s among
the constraints).

**The table alone.** Cells do not bear on each other, so u'_j = u_j: a zero is recovered in j if j
is *relevant*, c_j = u_j, and all its people are known.

**With the total.** Write l'_i = max(l_i, s_i). Then u'_j = min(u_j, u_t - sum of l'_i over i != j):
no table has more in j, and this one is reached with the others at l', or raised from there towards
u until the total reaches l_t, which c shows to be possible. As u_t >= T and c >= l', the second
term is c_j exactly if u_t = T and l'_i = c_i for all other cells, that is, if all cells of
D = {i : c_i > l_i} other than j are fully known. Together with s_j = c_j: a zero is recovered in j
if all people of j are known and either j is relevant, or u_t = T and all cells of D are fully
known. So once D is known the whole table is known, and every fully known cell is a recovered zero.
If D is empty the table is known from the start: every cell is relevant (the case S = T, where
the published algorithm gives 1 for every number of people). This holds for any limits; the
published lemma needs l_i < u_i for every cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RecoveryRule:
    """A zero is recovered in a fully known cell that is relevant, or once all of `unsure` is known.

    Attributes
    ----------
    relevant
        Cells whose true count is their upper limit.
    unsure
        Cells above their lower limit, where the total gives the table away as soon as they are all
        known; None where it never does. Never all False: then every cell is relevant instead.
    """

    counts: Integers
    relevant: Mask
    unsure: Mask | None = None

    @cached_property
    def population(self) -> int:
        """The number of people in the table."""
        return int(self.counts.sum())

    def subset(self, cells: Mask) -> RecoveryRule:
        """Return the rule for people of some cells alone, where nobody else is known."""
        unsure = self.unsure
        if unsure is not None:
            # The cells outside are never known, so the total helps only if none of them is unsure.
            unsure = unsure[cells] if not np.any(unsure & ~cells) else None
        return RecoveryRule(self.counts[cells], self.relevant[cells], unsure)

    def __repr__(self) -> str:
        return f"RecoveryRule({self.counts.shape}, {int(self.relevant.sum())} relevant cells)"


def recovery_rule(
    counts: ArrayLike,
    upper: ArrayLike,
    *,
    lower: ArrayLike | None = None,
    total_upper: int | None = None,
) -> RecoveryRule:
    """Return when zeros of a published table are recovered.

    Parameters
    ----------
    counts
        The true counts, of any shape.
    upper
        The upper limit of each cell.
    lower, total_upper
        Where the total is published too: the lower limit of each cell (0 if not given) and the
        upper limit of the total. Lower limits do not matter without a total.

    Examples
    --------
    Three women and one man, each published as 5 (1 to 9), the total as 0 (0 to 4). Once the three
    women are known, nobody else can be a woman.

    >>> recovery_rule([3, 1], [9, 9]).relevant.tolist()
    [False, False]
    >>> recovery_rule([3, 1], [9, 9], lower=[1, 1], total_upper=4).unsure.tolist()
    [True, False]
    """
    given = np.asarray(counts)
    low = np.zeros(given.shape) if lower is None else np.asarray(lower)
    high = np.asarray(upper)
    _check_limits(given, low, high, total_upper)
    true = given.astype(np.int64)
    relevant = true == high
    if total_upper is None or total_upper > int(true.sum()):
        return RecoveryRule(true, relevant)
    unsure = true > low
    if not unsure.any():
        return RecoveryRule(true, np.ones(true.shape, np.bool_))
    return RecoveryRule(true, relevant, unsure)


def cell_groups(shape: tuple[int, ...], axes: tuple[int, ...]) -> Integers:
    """Return for each cell the number of its combination of categories of some axes.

    Examples
    --------
    >>> cell_groups((2, 3), (1,)).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    numbers = np.zeros(shape, np.int64)
    for axis in axes:
        along = [1] * len(shape)
        along[axis] = shape[axis]
        numbers = numbers * shape[axis] + np.arange(shape[axis]).reshape(along)
    return numbers


def _check_limits(
    counts: NDArray[Any],
    lower: NDArray[Any],
    upper: NDArray[Any],
    total_upper: int | None,
) -> None:
    """Raise one error with all that is wrong; no count is named."""
    problems: list[Problem] = []
    for name, array in (("lower limits", lower), ("upper limits", upper)):
        if array.shape != counts.shape:
            problems.append(
                Problem(Reason.MALFORMED, name, f"shape {array.shape}, not {counts.shape}.")
            )
    for name, array in (("true counts", counts), ("lower limits", lower), ("upper limits", upper)):
        whole = np.equal(np.mod(array.astype(np.float64), 1), 0)
        if not bool(whole.all()):
            found = f"{count_of(int((~whole).sum()), 'cell')} not a whole number."
            problems.append(Problem(Reason.BAD_COUNT, name, found))
    if not problems:
        n_wrong = int((counts < np.maximum(lower, 0)).sum())
        if n_wrong:
            found = f"{count_of(n_wrong, 'cell')} below 0 or below the lower limit."
            problems.append(Problem(Reason.BAD_COUNT, "true counts", found))
        n_wrong = int((counts > upper).sum())
        if n_wrong:
            found = f"{count_of(n_wrong, 'cell')} above the upper limit."
            problems.append(Problem(Reason.BAD_COUNT, "true counts", found))
        if total_upper is not None and total_upper < int(counts.sum()):
            problems.append(
                Problem(
                    Reason.CONFLICTING_COUNTS, "total", "its upper limit is below the true one."
                )
            )
    if problems:
        raise InputError(
            Reason.BAD_COUNT if len(problems) > 1 else problems[0].reason,
            "The probability of recovering zeros of a published table was asked for.",
            f"Its counts and limits do not fit: {count_of(len(problems), 'problem')}.",
            "Give whole counts from 0 up that lie within their limits.",
            problems=problems,
        )
