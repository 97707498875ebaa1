"""The axes of tables of counts: their names, their categories, and groups of categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.wording import (
    count_of,
    did_you_mean,
    listed,
    on_one_line,
    quoted,
    there_are,
    unfit_character,
)

Groups = Mapping[str, Sequence[str]]
"""The groups of an axis: for each label the categories of the base table that it stands for."""

MOST_AXES = 64
"""As many as an array has dimensions."""

_LETTERS = 40
_SHOWN_CELLS = 6


@dataclass(frozen=True, slots=True)
class Axis:
    """A variable of a table of counts, with its categories in their order.

    Examples
    --------
    >>> Axis("work", ("yes", "no"))
    Axis('work', 2 categories)
    """

    name: str
    categories: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.categories)

    def __repr__(self) -> str:
        return f"Axis({quoted([self.name])}, {count_of(len(self), 'category', 'categories')})"


def axes_of(given: Mapping[str, Iterable[object]] | Iterable[Axis]) -> tuple[Axis, ...]:
    """Return axes that are given as such, or by name with their categories."""
    if isinstance(given, Mapping):
        return tuple(
            Axis(str(name), tuple(map(str, categories))) for name, categories in given.items()
        )
    return tuple(given)


def too_many_axes(number: int) -> list[Problem]:
    """Return the problem of a table that has more axes than an array."""
    if number <= MOST_AXES:
        return []
    found = f"there are {number:,}; the limit is {MOST_AXES}."
    return [Problem(Reason.TOO_LARGE, "axes", found, "Leave axes out.")]


def axis_problems(axes: Sequence[Axis]) -> list[Problem]:
    """Return what is wrong with the names of axes and of their categories."""
    problems = too_many_axes(len(axes))
    problems += [
        Problem(Reason.DUPLICATE, f"axis {quoted([name])}", f"is there {count} times.")
        for name, count in Counter(axis.name for axis in axes).items()
        if count > 1
    ]
    for axis in axes:
        where = f"axis {quoted([axis.name])}"
        if not axis.name.strip():
            problems.append(Problem(Reason.BAD_NAME, where, "has no name."))
        if not axis.categories:
            problems.append(Problem(Reason.NOTHING_GIVEN, where, "has no categories."))
        problems += [
            Problem(Reason.BAD_NAME, where, f"has a name with {unfit}.")
            for name in (axis.name, *axis.categories)
            if (unfit := unfit_character(name))
        ]
        twice = [name for name, count in Counter(axis.categories).items() if count > 1]
        if twice:
            found = f"has categories of the same name: {quoted(twice)}."
            problems.append(Problem(Reason.DUPLICATE, where, found))
    return problems


def unknown_axes(names: Iterable[str], known: Collection[str], said: str) -> list[Problem]:
    """Return a problem for each of some names that is not one of an axis."""
    return [
        Problem(Reason.UNKNOWN_NAME, f"axis {quoted([name])}", said, did_you_mean(name, known))
        for name in names
        if name not in known
    ]


def grouped(
    axis: Axis, groups: Groups, where: str, problems: list[Problem]
) -> tuple[Axis, NDArray[np.int64]] | None:
    """Return the axis of groups and the group of each category; None after adding problems."""
    where = f"{where}, axis {quoted([axis.name])}"
    found: list[Problem] = []
    places = {category: place for place, category in enumerate(axis.categories)}
    numbers = np.full(len(axis), -1, np.int64)
    twice: list[str] = []
    for number, (label, categories) in enumerate(groups.items()):
        group = f"{where}, group {quoted([label])}"
        if isinstance(categories, str) or not categories:
            found.append(Problem(Reason.NOTHING_GIVEN, group, "has no list of categories."))
            continue
        for category in categories:
            place = places.get(category)
            if place is None:
                near = did_you_mean(category, places)
                said = f"names {quoted([category])}, which is not in the base table."
                found.append(Problem(Reason.UNKNOWN_NAME, group, said, near))
            elif numbers[place] >= 0:
                twice.append(category)
            else:
                numbers[place] = number
    left = [category for category, place in places.items() if numbers[place] < 0]
    if twice:
        said = f"these categories are in more than one place: {quoted(twice)}."
        found.append(Problem(Reason.DUPLICATE, where, said, "Put each in one group."))
    if left and not any(problem.reason is Reason.NOTHING_GIVEN for problem in found):
        said = f"these categories are in no group: {quoted(left)}."
        found.append(Problem(Reason.NOT_A_CATEGORIZATION, where, said, "Put each in one group."))
    problems += found
    return None if found else (Axis(axis.name, tuple(groups)), numbers)


def cell_words(axes: Sequence[Axis], cell: int) -> str:
    """Return a cell, numbered by rows, in the words of its categories.

    Examples
    --------
    >>> cell_words([Axis("age", ("young", "old")), Axis("work", ("yes", "no"))], 2)
    'age=old, work=yes'
    >>> cell_words([], 0)
    'total'
    """
    words: list[str] = []
    for axis in reversed(axes):
        cell, place = divmod(cell, len(axis))
        shown = (on_one_line(text, _LETTERS) for text in (axis.name, axis.categories[place]))
        words.append("=".join(shown))
    return ", ".join(reversed(words)) or "total"


def cells_words(axes: Sequence[Axis], cells: Sequence[int]) -> str:
    """Return the first of some cells in words, and the number of the others.

    Examples
    --------
    >>> cells_words([Axis("work", ("yes", "no"))], [0, 1])
    'work=yes; work=no'
    """
    # There may be millions of cells.
    first = [cell_words(axes, cell) for cell in cells[:_SHOWN_CELLS]]
    letters = (2 * _LETTERS + 3) * max(len(axes), 1)
    return listed(first, _SHOWN_CELLS, among=len(cells), letters=letters)


def category_columns(axes: Sequence[Axis], cells: NDArray[np.int64]) -> dict[str, Any]:
    """Return for each axis the categories of some cells, numbered by rows, as an Arrow array.

    Examples
    --------
    >>> made = category_columns(
    ...     [Axis("age", ("young", "old")), Axis("work", ("yes", "no"))], np.array([2])
    ... )
    >>> {name: column.to_pylist() for name, column in made.items()}
    {'age': ['old'], 'work': ['yes']}
    """
    import pyarrow as pa

    places = np.unravel_index(cells, tuple(map(len, axes))) if axes else ()
    return {
        axis.name: pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int32)), pa.array(list(axis.categories), pa.string())
        ).dictionary_decode()
        for axis, codes in zip(axes, places, strict=True)
    }


def raise_all(asked: str, problems: Sequence[Problem], do: str = "") -> None:
    """Raise one error with every problem, if there is any."""
    refuse(problems, asked, f"{there_are(len(problems), 'problem')}.", do)
