"""All categorizations that some categories allow: how many there are, and which.

A value is covered by one category. Taken in the order of the smallest value that is not yet
covered, what is left to cover is a set of values that comes up again and again; each is counted
once. For trees and for bands there are few such sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from gamekeeper.algorithms.recoding_search.choices import Choice

MOST_LISTED = 100_000
"""Up to so many recodings are gone through; more are left to HiGHS."""

MOST_SETS = 200_000
"""More sets of values than this are not looked at when categorizations are counted."""


def listed_choices(choices: Sequence[Choice], most: int) -> tuple[int | None, list[Choice] | None]:
    """Return how many recodings there are, and choices with all their ways, where these are few.

    None where that is too long to count, and where there are more than `most`.
    """
    counts = [count_ways(choice) for choice in choices]
    known = [count for count in counts if count is not None]
    n_recodings = prod(known) if len(known) == len(counts) else None
    if n_recodings is None or n_recodings > most:
        return n_recodings, None
    return n_recodings, [replace(c, ways=tuple(list_ways(c)), least=1) for c in choices]


def count_ways(choice: Choice, most_sets: int = MOST_SETS) -> int | None:
    """Return how many categorizations there are; None where that is too long to count.

    Only those count that have at least as many categories as asked for.

    Examples
    --------
    >>> import numpy as np
    >>> count_ways(Choice(3, ((0,), (1,), (2,), (0, 1), (1, 2)), np.zeros(5)))
    3
    """
    if choice.ways is not None:
        return sum(len(way) >= choice.least for way in choice.ways)
    starting = _by_first(choice)
    # What is left to cover, by its smallest value, with the categories so far (as far as they
    # matter) and the number of ways in which one gets there.
    by_low: list[dict[tuple[int, int], int]] = [{} for _ in range(choice.n_values)]
    by_low[0] = {((1 << choice.n_values) - 1, 0): 1}
    done = total = 0
    for low in range(choice.n_values):
        for (rest, taken), n_ways in by_low[low].items():
            done += 1
            if done > most_sets:
                return None
            now = min(taken + 1, choice.least)
            for category in starting[low]:
                if category & rest == category:
                    after = rest & ~category
                    if after:
                        place = (after & -after).bit_length() - 1
                        by_low[place][after, now] = by_low[place].get((after, now), 0) + n_ways
                    elif now >= choice.least:
                        total += n_ways
        by_low[low] = {}
    return total


def list_ways(choice: Choice) -> Iterator[tuple[int, ...]]:
    """Yield every categorization with at least as many categories as asked for."""
    if choice.ways is not None:
        yield from (way for way in choice.ways if len(way) >= choice.least)
        return
    starting = _by_first(choice)
    numbers = {own: number for number, own in enumerate(choice.sets)}

    # A stack and not recursion: there can be as many steps as values.
    stack: list[tuple[int, tuple[int, ...]]] = [((1 << choice.n_values) - 1, ())]
    while stack:
        rest, taken = stack.pop()
        if not rest:
            if len(taken) >= choice.least:
                yield tuple(sorted(taken))
            continue
        stack += [
            (rest & ~category, (*taken, numbers[category]))
            for category in reversed(starting[(rest & -rest).bit_length() - 1])
            if category & rest == category
        ]


def _by_first(choice: Choice) -> list[list[int]]:
    starting: list[list[int]] = [[] for _ in range(choice.n_values)]
    for category, own in zip(choice.categories, choice.sets, strict=True):
        starting[category[0]].append(own)
    return starting
