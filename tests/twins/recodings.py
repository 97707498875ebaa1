"""Recodings by trying everything, and a check of proofs that knows nothing of how they are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import isclose, log2

Blocks = frozenset[frozenset[int]]
Recoding = tuple[Blocks, ...]


def categorizations(n_values: int, categories: Sequence[Sequence[int]]) -> list[Blocks]:
    """Return every choice of categories that has each value once."""
    sets = [frozenset(category) for category in categories]

    def covers(left: frozenset[int]) -> Iterator[list[frozenset[int]]]:
        if not left:
            yield []
            return
        for category in sets:
            if min(left) in category and category <= left:
                for others in covers(left - category):
                    yield [category, *others]

    return [frozenset(found) for found in covers(frozenset(range(n_values)))]


def recodings(choices: Sequence[tuple[int, Sequence[Sequence[int]]]]) -> list[Recoding]:
    """Return every recoding."""
    return list(product(*(categorizations(*choice) for choice in choices)))


def class_sizes(recoding: Sequence[Blocks], rows: Sequence[Sequence[int]]) -> Counter[object]:
    """Return how many records are in each class."""
    where = [{value: block for block in blocks for value in block} for blocks in recoding]
    return Counter(
        tuple(place[value] for place, value in zip(where, row, strict=True)) for row in rows
    )


def in_small_classes(recoding: Sequence[Blocks], rows: Sequence[Sequence[int]], k: int) -> int:
    """Return how many records are in classes of fewer than k."""
    return sum(size for size in class_sizes(recoding, rows).values() if size < k)


def bits(recoding: Sequence[Blocks], rows: Sequence[Sequence[int]]) -> float:
    """Return the loss by its definition, record by record."""
    total = 0.0
    for blocks, column in zip(recoding, zip(*rows, strict=True), strict=True):
        counts = Counter(column)
        place = {value: block for block in blocks for value in block}
        for value in column:
            total += log2(sum(counts[other] for other in place[value]) / counts[value])
    return total


def is_finer(a: Sequence[Blocks], b: Sequence[Blocks]) -> bool:
    """Tell whether one recoding is at least as fine as another."""
    return all(
        all(any(block <= larger for larger in coarse) for block in fine)
        for fine, coarse in zip(a, b, strict=True)
    )


def blocks_of_labels(labels: Sequence[int]) -> Blocks:
    """Return the blocks of a partition given by labels."""
    by_label: dict[int, set[int]] = {}
    for value, label in enumerate(labels):
        by_label.setdefault(label, set()).add(value)
    return frozenset(map(frozenset, by_label.values()))


Cut = tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]]
"""Partitions of the values by labels, and the different records that it speaks of (or none)."""


def proves(
    cuts: Sequence[Cut],
    lower_bound: float,
    choices: Sequence[tuple[int, Sequence[Sequence[int]]]],
    rows: Sequence[Sequence[int]],
    k: int,
    most: int,
) -> bool:
    """Tell whether unsafe recodings prove that nothing safe loses less.

    Each is looked at by itself: it has too many records in small classes, or at least those that
    it speaks of. Each recoding that loses less is as fine as one of the former, or as some of the
    latter that speak of too many.
    """
    counts = Counter(map(tuple, rows))
    unsafe = [([blocks_of_labels(labels) for labels in cut], spoken) for cut, spoken in cuts]
    for cut, spoken in unsafe:
        if not spoken and in_small_classes(cut, rows, k) <= most:
            return False
        sizes = class_sizes(cut, rows)
        for row in spoken:
            where = [{v: block for block in blocks for v in block} for blocks in cut]
            if sizes[tuple(place[v] for place, v in zip(where, row, strict=True))] >= k:
                return False
    for recoding in recodings(choices):
        loss = bits(recoding, rows)
        if loss >= lower_bound or isclose(loss, lower_bound):
            continue
        holding = [spoken for cut, spoken in unsafe if is_finer(recoding, cut)]
        too_many = {tuple(row) for spoken in holding for row in spoken}
        if all(holding) and sum(counts[row] for row in too_many) <= most:
            return False
    return True


def cell_prices(
    recoding: Sequence[Blocks],
    rows: Sequence[Sequence[int]],
    k: int,
    costs: Sequence[float],
    beyond: float,
) -> list[float]:
    """Return for each record the cheapest cells without which k records agree with it.

    An infinite cost is of a variable that is never suppressed; `beyond` where no cells do.
    """
    where = [{value: block for block in blocks for value in block} for blocks in recoding]
    shown = [tuple(place[v] for place, v in zip(where, row, strict=True)) for row in rows]
    found: list[float] = []
    for own in shown:
        best = beyond
        for kept in product((False, True), repeat=len(costs)):
            n_like = sum(
                all(a == b for a, b, is_kept in zip(own, other, kept, strict=True) if is_kept)
                for other in shown
            )
            cost = sum(c for c, is_kept in zip(costs, kept, strict=True) if not is_kept)
            if n_like >= k:
                best = min(best, cost)
        found.append(best)
    return found
