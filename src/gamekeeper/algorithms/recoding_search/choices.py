"""What a recoding may choose: the categories of each variable, and what each of them loses.

A variable has values 0 .. n-1 and allowed categories, each a set of values (nodes of a partition
graph; they need not form a tree). A categorization is a choice of categories that has every value
in exactly one; a recoding has a categorization for each variable. Where a variable may only be
categorized in certain ways (levels of a hierarchy, what others' forms have), the ways are listed.

Loss adds up over categories. In bits, a category loses for each of its records the logarithm to
base 2 of (records in the category / records with the value): what a reader would have to be told
to know the value again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Chosen = tuple[tuple[int, ...], ...]
"""Of each variable the numbers of the categories that are chosen, in ascending order."""


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """What may be chosen for one variable.

    Attributes
    ----------
    n_values
        How many values it has.
    categories
        The allowed categories, each as its values in ascending order.
    losses
        What each category loses.
    ways
        The categorizations to choose from, as numbers of categories; any that the categories
        allow, where None.
    least
        At least so many categories are wanted.
    """

    n_values: int
    categories: tuple[tuple[int, ...], ...]
    losses: NDArray[np.float64]
    ways: tuple[tuple[int, ...], ...] | None = None
    least: int = 1
    members: NDArray[np.int64] = field(init=False)
    starts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [len(category) for category in self.categories]
        flat = np.array([v for category in self.categories for v in category], dtype=np.int64)
        object.__setattr__(self, "members", flat)
        object.__setattr__(self, "starts", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """What is chosen from, as numbers of categories: the ways where listed, else each category."""
        if self.ways is not None:
            return self.ways
        return tuple((number,) for number in range(len(self.categories)))

    @property
    def sets(self) -> list[int]:
        """The categories as numbers whose bits are values."""
        return [sum(1 << value for value in category) for category in self.categories]

    def labels(self, chosen: Iterable[int]) -> NDArray[np.int32]:
        """Return for each value the place of its category among those chosen; -1 where it has none.

        Examples
        --------
        >>> Choice(3, ((0,), (1, 2)), np.zeros(2)).labels([0, 1]).tolist()
        [0, 1, 1]
        """
        labels = np.full(self.n_values, -1, dtype=np.int32)
        for place, category in enumerate(chosen):
            labels[self.members[self.starts[category] : self.starts[category + 1]]] = place
        return labels

    def inside(self, labels: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell of each category whether it lies within a block of a partition of the values.

        Examples
        --------
        >>> Choice(3, ((0,), (1, 2)), np.zeros(2)).inside(np.array([0, 0, 1])).tolist()
        [True, False]
        """
        found = labels[self.members]
        low = np.minimum.reduceat(found, self.starts[:-1])
        return low == np.maximum.reduceat(found, self.starts[:-1])

    def loss(self, chosen: Iterable[int]) -> float:
        """Return what a categorization loses."""
        return float(self.losses[list(chosen)].sum())


def bits_lost(
    categories: Sequence[Sequence[int]], counts: NDArray[np.integer] | NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return what each category loses in bits, from how many records have each value.

    A category all of whose records have one value loses nothing.

    Examples
    --------
    >>> bits_lost([[0], [0, 1], [1, 2]], np.array([2, 2, 0])).tolist()
    [0.0, 4.0, 0.0]
    """
    lost = np.zeros(len(categories))
    for number, category in enumerate(categories):
        own = counts[list(category)].astype(np.float64)
        own = own[own > 0]
        if len(own) > 1:
            total = own.sum()
            lost[number] = max(0.0, float(total * np.log2(total) - (own * np.log2(own)).sum()))
    return lost


def total_loss(choices: Sequence[Choice], chosen: Chosen) -> float:
    """Return what a recoding loses."""
    return sum(choice.loss(own) for choice, own in zip(choices, chosen, strict=True))


def categories_inside(
    choices: Sequence[Choice], labels: Sequence[NDArray[np.integer]]
) -> tuple[NDArray[np.bool_], ...]:
    """Return for each variable which of its categories lie within blocks of a partition."""
    return tuple(choice.inside(own) for choice, own in zip(choices, labels, strict=True))


def recoding_labels(choices: Sequence[Choice], chosen: Chosen) -> list[NDArray[np.int32]]:
    """Return for each variable the place of every value's category."""
    return [choice.labels(own) for choice, own in zip(choices, chosen, strict=True)]
