"""Who can be whom, by trying everybody with every row; and the cheapest suppressions of tiny files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from itertools import permutations, product

Row = Sequence[int]
Stars = Sequence[frozenset[int]]


def fits(person: Row, row: Row, stars: frozenset[int]) -> bool:
    return all(c in stars or person[c] == row[c] for c in range(len(person)))


def counts(rows: Sequence[Row], stars: Stars) -> dict[str, list[int]]:
    """Return the candidates by every criterion, where row i is person i with stars."""
    n = range(len(rows))
    width = range(len(rows[0]))

    shown = [[None if c in stars[i] else rows[i][c] for c in width] for i in n]
    fitting = [[fits(rows[i], rows[j], stars[j]) for j in n] for i in n]

    def could_be(i: int, j: int) -> bool:
        return all(
            a is None or b is None or a == b for a, b in zip(shown[i], shown[j], strict=True)
        )

    return {
        "own": [shown.count(shown[i]) for i in n],
        "released_to_people": [sum(fitting[i][j] for i in n) for j in n],
        "people_to_released": [sum(fitting[i][j] for j in n) for i in n],
        "wildcard": [sum(could_be(i, j) for j in n) for i in n],
    }


def holds(rows: Sequence[Row], stars: Stars, k: int) -> dict[str, bool]:
    """Tell which criteria hold for a k."""
    found = {name: min(numbers) >= k for name, numbers in counts(rows, stars).items()}
    return {**found, "both": found["released_to_people"] and found["people_to_released"]}


def balanced(rows: Sequence[Row], stars: Stars) -> list[float]:
    """Return the probability of the right row by one step of balancing."""
    n = range(len(rows))
    people = counts(rows, stars)["released_to_people"]
    totals = [sum(1 / people[j] for j in n if fits(rows[i], rows[j], stars[j])) for i in n]
    return [1 / people[i] / totals[i] for i in n]


def matchings(rows: Sequence[Row], stars: Stars) -> tuple[int, list[Fraction], list[int]]:
    """Return how many assignments there are, the share of the right row, and who has which at all."""
    n = range(len(rows))
    return _assignments([[fits(rows[i], rows[j], stars[j]) for j in n] for i in n])


def _assignments(fit: list[list[bool]]) -> tuple[int, list[Fraction], list[int]]:
    n = range(len(fit))
    every = [p for p in permutations(n) if all(fit[i][p[i]] for i in n)]
    shares = [Fraction(sum(p[i] == i for p in every), len(every)) for i in n]
    return len(every), shares, [len({p[i] for p in every}) for i in n]


def patterns(n_rows: int, columns: Sequence[int]) -> Iterator[list[frozenset[int]]]:
    """Yield every way to suppress cells of some columns."""
    one = [frozenset(c for c, on in zip(columns, chosen, strict=True) if on)
           for chosen in product((False, True), repeat=len(columns))]  # fmt: skip
    for chosen in product(one, repeat=n_rows):
        yield list(chosen)


def optima(
    rows: Sequence[Row], k: int, costs: Sequence[int], columns: Sequence[int] | None = None
) -> dict[str, int]:
    """Return the least cost by which each criterion is met."""
    best: dict[str, int] = {}
    free = range(len(rows[0])) if columns is None else columns
    # The cheapest first: what meets a criterion then is its optimum, and little is left to try.
    priced = [
        (sum(costs[c] for own in stars for c in own), stars)
        for stars in patterns(len(rows), list(free))
    ]
    for cost, stars in sorted(priced, key=lambda pair: pair[0]):
        held = holds(rows, stars, k)
        for name, met in held.items():
            if met:
                best.setdefault(name, cost)
        if len(best) == len(held):
            break
    return best


def infrequent(rows: Sequence[Row], record: int, k: int) -> list[list[int]]:
    """Return the minimal sets of columns on which fewer than k rows agree with a record."""
    found: list[set[int]] = []
    width = len(rows[0])
    for chosen in sorted(product((0, 1), repeat=width), key=sum):
        columns = {c for c in range(width) if chosen[c]}
        agreeing = sum(all(row[c] == rows[record][c] for c in columns) for row in rows)
        if agreeing < k and not any(other <= columns for other in found):
            found.append(columns)
    return sorted(sorted(columns) for columns in found)


def stars_of(sets: Sequence[int]) -> list[frozenset[int]]:
    """Return sets that are written as numbers whose bits are columns."""
    return [frozenset(c for c in range(64) if int(number) >> c & 1) for number in sets]


Cells = Sequence[Sequence[Set[int]]]
"""Released rows, each cell being the set of values that it can stand for."""


def fits_of_sets(people: Sequence[Row], cells: Cells) -> list[list[bool]]:
    """Return of each person whether she fits each row."""
    return [[all(v in own for v, own in zip(p, row, strict=True)) for row in cells] for p in people]


def matchings_of_sets(people: Sequence[Row], cells: Cells) -> tuple[int, list[Fraction], list[int]]:
    """Return what `matchings` does; row i is person i's."""
    return _assignments(fits_of_sets(people, cells))
