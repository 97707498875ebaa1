"""Counts as they are given, nested lists or arrays, made whole numbers or a list of problems.

No message shows a count: what was given may be true counts. Cells are named by their categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.perturbation import HIDDEN
from gamekeeper.data.tables.axes import Axis, cells_words
from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import be, count_of

Integers = NDArray[np.int64]

_NOT_TEXT = "{are} a text, where a number belongs"
_NOT_WHOLE = "{are} no whole number"
_NEGATIVE = "{are} below 0"
_TOO_LARGE = f"{{are}} {UNBOUNDED:,} or more"
_NOTHING = "{are} missing"
_NO_NUMBER = "{are} no number"
_NO_INTERVAL = "{are} no interval: a pair of a lower and an upper limit, or null for no upper one"
_REVERSED = "{have} an upper limit below the lower one"
_COUNTS_ARE = f"Counts are whole numbers from 0 to {UNBOUNDED - 1:,}."


def given_counts(
    given: object,
    axes: Sequence[Axis],
    where: str,
    problems: list[Problem],
    *,
    hidden: bool = False,
) -> Integers | None:
    """Return counts in the shape of the axes; None after adding problems.

    With `hidden`, a cell without a count is hidden; without, it is a fault.
    """
    shape = tuple(map(len, axes))
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":
        return _array(cast("NDArray[Any]", given), axes, where, problems)
    found = Faults(axes, where)
    cells = _cells(given, shape, where, problems)
    if cells is None:
        return None
    made = np.empty(len(cells), np.int64)
    for place, cell in enumerate(cells):
        if cell is None and hidden:
            made[place] = HIDDEN
        else:
            made[place] = found.whole(place, cell)
    return found.settle(problems, made.reshape(shape))


def given_intervals(
    given: object, axes: Sequence[Axis], where: str, problems: list[Problem]
) -> tuple[Integers, Integers] | None:
    """Return lower and upper limits, `HIDDEN` where a cell is; None after adding problems."""
    shape = tuple(map(len, axes))
    found = Faults(axes, where)
    cells = _cells(given, shape, where, problems)
    if cells is None:
        return None
    made = np.empty((len(cells), 2), np.int64)
    for place, cell in enumerate(cells):
        if cell is None:
            made[place] = HIDDEN, HIDDEN
        elif isinstance(cell, list | tuple):
            ends = cast("Sequence[object]", cell)
            if len(ends) != 2:
                found.add(_NO_INTERVAL, place)
                continue
            low = found.whole(place, ends[0])
            high = UNBOUNDED if ends[1] is None else found.whole(place, ends[1])
            made[place] = low, high
            if low > high >= 0:
                found.add(_REVERSED, place)
        else:
            made[place] = found.whole(place, cell)
    if found.settle(problems, made) is None:
        return None
    return made[:, 0].reshape(shape), made[:, 1].reshape(shape)


def sum_problems(counts: Integers, where: str) -> list[Problem]:
    """Return a problem where counts add up to more than can be computed with."""
    if float(counts.sum(dtype=np.float64)) < UNBOUNDED:
        return []
    return [Problem(Reason.BAD_COUNT, where, f"its counts add up to {UNBOUNDED:,} or more.")]


class Faults:
    """The cells that have no usable count, by what is wrong with them."""

    def __init__(self, axes: Sequence[Axis], where: str) -> None:
        self.axes = axes
        self.where = where
        self.places: dict[str, list[int]] = {}

    def add(self, fault: str, place: int) -> None:
        """Note a fault of a cell."""
        places = self.places.setdefault(fault, [])
        if not places or places[-1] != place:
            places.append(place)

    def whole(self, place: int, cell: object) -> int:
        """Return a cell as a whole number from 0 up, or note what is wrong and return `HIDDEN`."""
        fault = ""
        number = HIDDEN
        if isinstance(cell, float | np.floating):
            if cell == cell and abs(float(cell)) != np.inf and float(cell).is_integer():
                number = int(cell)
            else:
                fault = _NOT_WHOLE
        elif isinstance(cell, int | np.integer) and not isinstance(cell, bool):
            number = int(cell)
        elif cell is None:
            fault = _NOTHING
        else:
            fault = _NOT_TEXT if isinstance(cell, str) else _NO_NUMBER
        if not fault and not 0 <= number < UNBOUNDED:
            fault = _NEGATIVE if number < 0 else _TOO_LARGE
        if fault:
            self.add(fault, place)
            return HIDDEN
        return number

    def settle(self, problems: list[Problem], made: Integers) -> Integers | None:
        """Return what was made, or None after adding a problem for each kind of fault."""
        for fault, places in self.places.items():
            have = "has" if len(places) == 1 else "have"
            said = fault.format(are=be(len(places)), have=have)
            found = f"{count_of(len(places), 'count')} {said} ({cells_words(self.axes, places)})."
            problems.append(Problem(Reason.BAD_COUNT, self.where, found, _COUNTS_ARE))
        return None if self.places else made


def _array(
    given: NDArray[Any], axes: Sequence[Axis], where: str, problems: list[Problem]
) -> Integers | None:
    shape = tuple(map(len, axes))
    if given.shape != shape:
        problems.append(_misshapen(where, f"its counts have the shape {given.shape}", shape))
        return None
    flat = given.reshape(-1)
    right = (flat >= 0) & (flat < UNBOUNDED) & (flat == np.floor(flat))
    found = Faults(axes, where)
    for place in np.flatnonzero(~right).tolist():
        found.whole(place, flat[place])
    return found.settle(problems, np.where(right, flat, 0).astype(np.int64).reshape(shape))


def _cells(
    given: object, shape: tuple[int, ...], where: str, problems: list[Problem]
) -> list[object] | None:
    """Return the cells of nested lists by rows; None after adding a problem of their shape."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    misfit = ""

    def walk(part: object, depth: int) -> Iterator[object]:
        nonlocal misfit
        if depth == len(shape):
            yield part
        elif not isinstance(part, list | tuple):
            misfit = misfit or f"its counts are nested {depth} deep in places"
        else:
            items = cast("Sequence[object]", part)
            if len(items) != shape[depth]:
                misfit = misfit or (
                    f"there is a list of {count_of(len(items), 'item')} at depth {depth + 1}, "
                    f"where {shape[depth]} belong"
                )
                return
            for item in items:
                yield from walk(item, depth + 1)

    cells = list(walk(given, 0))
    if misfit:
        problems.append(_misshapen(where, misfit, shape))
        return None
    return cells


def _misshapen(where: str, found: str, shape: tuple[int, ...]) -> Problem:
    wanted = " by ".join(map(str, shape)) or "a single number, for the total"
    return Problem(Reason.MALFORMED, where, f"{found}.", f"The axes ask for {wanted}.")
