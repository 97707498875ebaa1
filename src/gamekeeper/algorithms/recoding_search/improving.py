"""A safe recoding that is good, fast: by levels first, then finer while it stays safe.

Levels are a few categorizations of a variable, from fine to coarse, made of its own categories:
level h has categories that are at most h steps of inclusion above the finest. There are few
recodings by levels, and the best of them is found soon. Of a safe recoding one category after the
other is split, that which saves most first; a split that would be unsafe is not made. A category is
split into the cheapest parts that are found by taking one category inside it and the largest that
still fit for what is left. The outcome is an upper bound of the least loss, not the least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gamekeeper.algorithms.recoding_search.choices import Choice, Chosen

_TRIED_PARTS = 12
_MOST_LEVELS = 6


class Splitter:
    """Splits the categories of safe recodings."""

    def __init__(self, choices: Sequence[Choice], is_safe: Callable[[Chosen], bool]) -> None:
        self._choices = choices
        self._is_safe = is_safe
        self._sets = [choice.sets for choice in choices]
        self._splits: dict[tuple[int, int], list[tuple[int, ...]]] = {}

    def finer(self, chosen: Chosen, is_over: Callable[[], bool]) -> Chosen:
        """Return a safe recoding at least as fine as a safe one."""
        tried: set[tuple[int, tuple[int, ...]]] = set()
        while not is_over():
            moves = [move for move in self._moves(chosen) if move[1:3] not in tried]
            if not moves:
                return chosen
            for _, variable, after in sorted(moves):
                tried.add((variable, after))
                trial = (*chosen[:variable], after, *chosen[variable + 1 :])
                if self._is_safe(trial):
                    chosen = trial
                    break
                if is_over():
                    return chosen
            else:
                return chosen
        return chosen

    def _moves(self, chosen: Chosen) -> list[tuple[float, int, tuple[int, ...]]]:
        """Return what can be done to each variable, with the change of loss (below 0)."""
        moves: list[tuple[float, int, tuple[int, ...]]] = []
        for variable, (choice, own) in enumerate(zip(self._choices, chosen, strict=True)):
            now = choice.loss(own)
            if choice.ways is not None:
                inside = choice.inside(choice.labels(own))
                finer = [way for way in choice.ways if way != own and inside[list(way)].all()]
                afters = sorted(finer, key=choice.loss)
            else:
                afters = [
                    tuple(sorted({*own} - {category} | {*parts}))
                    for category in own
                    for parts in self._parts(variable, category)
                ]
            moves += [
                (choice.loss(after) - now, variable, after)
                for after in afters
                if choice.loss(after) < now
            ]
        return moves

    def _parts(self, variable: int, category: int) -> list[tuple[int, ...]]:
        """Return ways to split a category, those that lose least first."""
        if (variable, category) in self._splits:
            return self._splits[variable, category]
        choice, sets = self._choices[variable], self._sets[variable]
        whole = sets[category]
        inside = [n for n, own in enumerate(sets) if own != whole and own & whole == own]
        inside.sort(key=lambda number: (-len(choice.categories[number]), number))
        found: set[tuple[int, ...]] = set()
        for first in inside:
            rest, parts = whole & ~sets[first], [first]
            for number in inside:
                if sets[number] & rest == sets[number]:
                    rest &= ~sets[number]
                    parts.append(number)
            if not rest:
                found.add(tuple(sorted(parts)))
        singles = tuple(n for n in inside if len(choice.categories[n]) == 1)
        if len(singles) == len(choice.categories[category]) > 1:
            found.add(singles)
        by_loss = sorted(found, key=lambda parts: (choice.loss(parts), parts))
        step = max(1, len(by_loss) // _TRIED_PARTS)
        self._splits[variable, category] = by_loss[::step]
        return self._splits[variable, category]


def levels_of(choice: Choice) -> tuple[tuple[int, ...], ...]:
    """Return a few categorizations from fine to coarse; fewer than two where none were found.

    Examples
    --------
    >>> import numpy as np
    >>> bands = ((0,), (1,), (2,), (0, 1), (0, 1, 2))
    >>> levels_of(Choice(3, bands, np.zeros(5)))
    ((0, 1, 2), (2, 3), (4,))
    """
    if choice.ways is not None:
        return choice.ways
    sets = choice.sets
    order = sorted(range(len(sets)), key=lambda number: (len(choice.categories[number]), number))
    heights: dict[int, int] = {}
    for number in order:
        below = [
            heights[other]
            for other in heights
            if sets[other] != sets[number] and sets[other] & sets[number] == sets[other]
        ]
        heights[number] = max(below, default=-1) + 1
    tops = range(max(heights.values()) + 1)
    found: dict[tuple[int, ...], None] = {}
    for top in tops:
        way = _largest_first([n for n in reversed(order) if heights[n] <= top], sets)
        if sum(len(choice.categories[number]) for number in way) == choice.n_values:
            found[way] = None
    ways = [way for way in found if len(way) >= choice.least]
    step = max(1, -(-len(ways) // _MOST_LEVELS))
    return tuple(dict.fromkeys([*ways[::step], *ways[-1:]]))


def coarsest_way(choice: Choice) -> tuple[int, ...] | None:
    """Return a categorization of few categories; None where the simple way leads to none."""
    if choice.ways is not None:
        return min(choice.ways, key=lambda way: (len(way), choice.loss(way)), default=None)
    sizes = [len(category) for category in choice.categories]
    order = sorted(range(len(sizes)), key=lambda number: (-sizes[number], number))
    taken = _largest_first(order, choice.sets)
    is_whole = sum(sizes[number] for number in taken) == choice.n_values
    return taken if is_whole and len(taken) >= choice.least else None


def with_way(
    choices: Sequence[Choice], chosen: Chosen, variable: int, way: tuple[int, ...]
) -> Chosen | None:
    """Return a recoding with one variable categorized otherwise; None where that is not allowed."""
    if len(way) < choices[variable].least:
        return None
    return (*chosen[:variable], way, *chosen[variable + 1 :])


def with_category(
    choices: Sequence[Choice], chosen: Chosen, variable: int, number: int
) -> Chosen | None:
    """Return a recoding with one category more, in place of those that it touches.

    What is left of these is each value by itself; None where that is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> bands = Choice(3, ((0,), (1,), (2,), (0, 1), (1, 2)), np.zeros(5))
    >>> with_category([bands], ((2, 3),), 0, 4)
    ((0, 4),)
    """
    choice, own = choices[variable], chosen[variable]
    wanted = {*choice.categories[number]}
    touched = [n for n in own if wanted & {*choice.categories[n]}]
    freed = {v for n in touched for v in choice.categories[n]} - wanted
    singles = [n for n, c in enumerate(choice.categories) if len(c) == 1 and c[0] in freed]
    if number in own or len(singles) < len(freed):
        return None
    return with_way(
        choices, chosen, variable, tuple(sorted({*own} - {*touched} | {number, *singles}))
    )


def _largest_first(order: Sequence[int], sets: Sequence[int]) -> tuple[int, ...]:
    """Return categories that do not overlap, taken as they come."""
    taken, covered = list[int](), 0
    for number in order:
        if not sets[number] & covered:
            covered |= sets[number]
            taken.append(number)
    return tuple(sorted(taken))
