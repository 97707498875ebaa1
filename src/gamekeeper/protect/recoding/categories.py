"""The categories that a variable of a file may get, and what each of them is called.

Below them there are *places*: the codes of the variable (0 is a missing cell, which stays one), and
after those the finest categories of a partition graph that no record has. A categorization must
have these too: bands that overlap where nobody is would not be a categorization next year.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.bands import Band
from gamekeeper.algorithms.recoding_search.choices import Choice, bits_lost
from gamekeeper.data.coding.codebook import MISSING, CodedVariable

Places = tuple[int, ...]
ANY = "any"
"""What a variable's only category is called."""


@dataclass(frozen=True, eq=False)
class KeyCategories:
    """What a variable may become.

    Attributes
    ----------
    variable
        The variable of the file.
    n_places
        How many places there are.
    names
        Every allowed category with its name; the missing cell is one of them.
    where
        The number or the band that each place is, where it is one.
    ways
        The only categorizations to choose from; any that the categories allow, where None.
    source
        Where they come from, in words.
    may_show
        Whether names may be shown in an error: they are not values of the file.
    """

    variable: CodedVariable
    n_places: int
    names: Mapping[Places, str]
    where: tuple[Band | Fraction | None, ...]
    ways: tuple[tuple[Places, ...], ...] | None = None
    source: str = ""
    may_show: bool = False

    @property
    def codes(self) -> range:
        """The codes of values."""
        return range(MISSING + 1, self.variable.n_codes)

    def choice(self, counts: NDArray[np.float64], factor: float, least: int) -> Choice:
        """Return what a search may choose; `counts` are of the codes."""
        categories = tuple(self.names)
        # The missing cell is a category by itself that nobody asks for.
        least = least + 1 if self.n_places > 1 else 1
        every = np.zeros(self.n_places)
        # What is missing stays missing, and loses nothing.
        every[MISSING + 1 : self.variable.n_codes] = counts[MISSING + 1 :]
        losses = bits_lost(categories, every) * factor
        numbers = {category: number for number, category in enumerate(categories)}
        ways = None
        if self.ways is not None:
            ways = tuple(
                way
                for own in self.ways
                if len(way := tuple(sorted(numbers[block] for block in own))) >= least
            )
        return Choice(self.n_places, categories, losses, ways, least)

    def entropy(self, counts: NDArray[np.float64]) -> float:
        """Return how many bits the variable tells in all."""
        return float(bits_lost([list(self.codes)], counts)[0]) if len(self.codes) else 0.0


def with_values(
    variable: CodedVariable, names: Mapping[Places, str], *, together: bool, n_places: int
) -> dict[Places, str]:
    """Return categories with each value by itself, the missing cell and, if asked, all in one.

    Names of the file's own values come before those that are given.
    """
    made: dict[Places, str] = {(MISSING,): variable.words[MISSING]}
    made |= {(code,): variable.words[code] for code in range(MISSING + 1, variable.n_codes)}
    for category, name in names.items():
        made.setdefault(category, name)
    if together and n_places > 1:
        made.setdefault(tuple(range(MISSING + 1, n_places)), ANY)
    return made


def blocks_of(labels: Sequence[int]) -> list[Places]:
    """Return the blocks of a partition of codes from 1 on, by their labels.

    Examples
    --------
    >>> blocks_of([0, 1, 1, 2])
    [(1, 2), (3,)]
    """
    blocks: dict[int, list[int]] = {}
    for code, label in enumerate(labels):
        if code != MISSING:
            blocks.setdefault(label, []).append(code)
    return [tuple(block) for block in blocks.values()]
