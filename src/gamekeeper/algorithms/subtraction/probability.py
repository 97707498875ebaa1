"""The subtraction attribution probability, SAP: somebody who knows n people recovers a zero.

SAP(n) is the probability that at least one zero is recovered when a simple random sample of n
people of the population is known (Smith's thesis, chapter 3; Smith and Elliot 2003). It never falls
as n grows, and n above the population means everybody is known.

**When a zero is recovered.** A table with true counts c is published within limits l <= c <= u for
each cell, perhaps with its total T within l_t <= T <= u_t. Somebody knows s people per cell, s <=
c, and therefore that no cell is below s. A zero is recovered in cell j when nobody unknown can be
there: s_j = c_j = u'_j, where u'_j is the largest count that cell j can have (with x >= s among the
constraints).

The table alone: cells do not bear on each other, so u'_j = u_j: a zero is recovered in j if j
is *relevant*, c_j = u_j, and all its people are known.

With the total: write l'_i = max(l_i, s_i). Then u'_j = min(u_j, u_t - sum of l'_i over i != j):
no table has more in j, and this one is reached with the others at l', or raised from there towards
u until the total reaches l_t, which c shows to be possible. As u_t >= T and c >= l', the second
term is c_j exactly if u_t = T and l'_i = c_i for all other cells, that is, if all cells of
D = {i : c_i > l_i} other than j are fully known. Together with s_j = c_j: a zero is recovered in j
if all people of j are known and either j is relevant, or u_t = T and all cells of D are fully
known. So once D is known the whole table is known, and every fully known cell is a recovered zero.
If D is empty the table is known from the start: every cell is relevant (the case S = T, where
the published algorithm gives 1 for every number of people). This holds for any limits; the
published lemma needs l_i < u_i for every cell.

**How probable that is.** With q(S, F) for the probability that all cells of F are fully known and
no cell of S is (0 if they overlap), R for the relevant cells and D for the unsure ones, the
probability that a zero is recovered within some cells G is

    1 - q(R & G, {}) + q(R & G, D) - q(G, D)

without the last two terms where the total gives nothing away. G is the whole table for SAP, the
cells of a category, or those of one key: the conditional table of people who share the values of
the key variables.

**How q is found.** The number of samples of n people in which no cell of S is fully known is the
coefficient of z^n in the product of (1 + z)^c - z^c over the counts c of S, times (1 + z)^rest.
Inclusion and exclusion takes 2^|S| terms. Here, up to a population of 2,000, the polynomial is one
large integer, its value at a power of two beyond all coefficients (Kronecker substitution), and a
factor 1 + z is a shift and an addition: N of them in all, each linear in the N^2 bits, half a
second for 2,000 people, and all is exact. Beyond, in floating point, a population is cut into its
cells and put together again, two parts at a time, the smallest first (`kernels.merge`). Equal parts
are put together once. Only the numbers of known people that matter for what was asked are followed
down to the parts. For all numbers of known people this takes time of the order of N^1.5, and the
absolute error stays below 1e-12 (about 1e-14 where it was compared with exact rationals).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


def samples_without_full_cells(sizes: Iterable[int], population: int) -> list[int]:
    """Return for n = 0 to the population how many samples of n people hold no cell of `sizes` fully.

    Cells of size 0 are always fully known. Everybody who is in none of the cells may be sampled.

    Examples
    --------
    >>> samples_without_full_cells([2, 1], 4)
    [1, 3, 2, 0, 0]
    """
    width = _width(population)
    value, rest = 1, population
    for size in sorted(sizes):
        grown = value
        for _ in range(size):
            grown += grown << width
        value = grown - (value << (width * size))
        rest -= size
    for _ in range(rest):
        value += value << width
    return unpacked(value, width, population + 1)


def product_of_polynomials(factors: Sequence[Sequence[int]], population: int) -> list[int]:
    """Return the product of numbers of samples from separate parts of a population.

    Examples
    --------
    >>> product_of_polynomials([[1, 2], [1, 1]], 2)
    [1, 3, 2]
    """
    width = _width(population)
    values = [packed(factor, width) for factor in factors] or [1]
    while len(values) > 1:
        values.sort(key=int.bit_length, reverse=True)
        values.append(values.pop() * values.pop())
    return unpacked(values[0], width, population + 1)


def binomials(population: int) -> list[int]:
    """Return the number of samples of each size.

    Examples
    --------
    >>> binomials(4)
    [1, 4, 6, 4, 1]
    """
    row = [1]
    for n in range(population):
        row.append(row[-1] * (population - n) // (n + 1))
    return row


def packed(coefficients: Sequence[int], width: int) -> int:
    """Return a polynomial with coefficients from 0 up as one integer, `width` bits for each."""
    n_bytes = width // 8
    return int.from_bytes(b"".join(c.to_bytes(n_bytes, "little") for c in coefficients), "little")


def unpacked(value: int, width: int, length: int) -> list[int]:
    """Return the coefficients of a polynomial that is kept as one integer."""
    n_bytes = width // 8
    content = value.to_bytes(n_bytes * length, "little")
    return [
        int.from_bytes(content[at : at + n_bytes], "little")
        for at in range(0, n_bytes * length, n_bytes)
    ]


def _width(population: int) -> int:
    """Return bits that hold any number of samples, in whole bytes."""
    return 8 * (math.comb(population, population // 2).bit_length() // 8 + 1)


ERROR = 1e-12
"""The stated absolute error of probabilities in floating point."""

_MOST_FACTORS = 100_000_000


def some_cell_known(sizes: Iterable[int], population: int, asked: Integers) -> Floats:
    """Return the probability that a cell of `sizes` is fully known, for each number of people.

    Examples
    --------
    >>> some_cell_known([2, 1], 4, np.arange(5)).round(6).tolist()
    [0.0, 0.25, 0.666667, 1.0, 1.0]
    """
    cells = [int(size) for size in sizes]
    if not cells:
        return np.zeros(len(asked))
    if min(cells) == 0:
        return np.ones(len(asked))
    leaves = [(("cell", size), size) for size in sorted(cells)]
    rest = population - sum(cells)
    if rest:
        leaves.append((("rest", rest), rest))

    def known_of(name: object, numbers: Integers) -> Floats:
        kind, size = cast("tuple[str, int]", name)
        return ((numbers == size) & (kind == "cell")).astype(np.float64)

    return _put_together(_Tree(leaves), known_of, asked)


def some_part_recovered(curves: Sequence[Floats], asked: Integers) -> Floats:
    """Return the probability that a zero is recovered in a part of a population cut into parts.

    A curve holds the probability for its part from nobody to everybody of it known.

    Examples
    --------
    >>> parts = [np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0])]
    >>> some_part_recovered(parts, np.arange(4)).round(6).tolist()
    [0.0, 0.333333, 1.0, 1.0]
    """
    if any(curve[0] == 1.0 for curve in curves):
        return np.ones(len(asked))
    leaves = sorted(((number, len(c) - 1) for number, c in enumerate(curves)), key=lambda x: x[1])
    people: list[tuple[object, int]] = [leaf for leaf in leaves if leaf[1]]
    if not people:
        return np.zeros(len(asked))
    return _put_together(
        _Tree(people), lambda name, numbers: curves[cast("int", name)][numbers], asked
    )


def _put_together(
    tree: _Tree, known_of: Callable[[object, Integers], Floats], asked: Integers
) -> Floats:
    """Follow what is asked down to the leaves of a tree, and put them together from there."""
    from gamekeeper.algorithms.subtraction.kernels import merge, spread

    if not len(asked):
        return np.zeros(0)
    wanted, place = np.unique(asked, return_inverse=True)
    root = len(tree.sizes) - 1
    # The numbers of known people that are needed of each part.
    first, last = [2**62] * (root + 1), [-1] * (root + 1)
    first[root], last[root] = int(wanted[0]), int(wanted[-1])
    for part in range(root, -1, -1):
        children = tree.children[part]
        if children is None:
            continue
        low, high, size = first[part], last[part], tree.sizes[part]
        widest = min(max(low, size // 2), high)
        far = float(spread(widest, *(tree.sizes[child] for child in children)))
        for child in children:
            own = tree.sizes[child]
            least = max(0, low - (size - own), int(low * (own / size) - far) - 1)
            most = min(own, high, int(high * (own / size) + far) + 2)
            first[child], last[child] = min(first[child], least), max(last[child], most)
    known: list[Floats] = []
    for part in range(root + 1):
        numbers = np.arange(first[part], last[part] + 1) if part < root else wanted
        children = tree.children[part]
        if children is None:
            known.append(known_of(tree.names[part], numbers))
            continue
        a, b = children
        known.append(
            merge(numbers, known[a], first[a], tree.sizes[a], known[b], first[b], tree.sizes[b])
        )
    return known[-1][place]


def all_known(size: int, population: int, asked: Integers) -> Floats:
    """Return the probability that `size` given people are all among n known ones.

    Examples
    --------
    >>> all_known(2, 4, np.arange(5)).round(6).tolist()
    [0.0, 0.0, 0.166667, 0.5, 1.0]
    """
    unknown = population - asked.astype(np.float64)
    # The product over the given people has as many roundings as there are of them, that over the
    # unknown people is small before it has many, so that neither error is more than 1e-13.
    if size * size <= population:
        found = np.ones(len(asked))
        for k in range(size):
            found *= np.maximum(population - unknown - k, 0.0) / (population - k)
        return found
    # Beyond this the product over the unknown people is below exp(-40).
    most = min(population, 40 * (population // size + 1))
    if most > _MOST_FACTORS:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Probabilities for cells of {size:,} of {population:,} people were asked for.",
            f"They are products of {most:,} numbers; the limit is {_MOST_FACTORS:,}.",
            "Take a part of the table, or join categories.",
        )
    left = population - np.arange(most, dtype=np.float64)
    shares = np.concatenate(([1.0], np.cumprod(np.maximum(left - size, 0.0) / left)))
    return np.where(unknown <= most, shares[np.minimum(unknown, most).astype(np.int64)], 0.0)


class _Tree:
    """Parts of a population, children before parents, those of the same name once."""

    def __init__(self, leaves: Sequence[tuple[object, int]]) -> None:
        self.names: list[object] = []
        self.sizes: list[int] = []
        self.children: list[tuple[int, int] | None] = []
        self._numbers: dict[object, int] = {}
        heap = [(size, self._part(name, size, None)) for name, size in leaves]
        heapq.heapify(heap)
        while len(heap) > 1:
            one, other = heapq.heappop(heap), heapq.heappop(heap)
            pair, size = (one[1], other[1]), one[0] + other[0]
            heapq.heappush(heap, (size, self._part(("pair", *pair), size, pair)))

    def _part(self, name: object, size: int, children: tuple[int, int] | None) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.sizes)
            self.names.append(name)
            self.sizes.append(size)
            self.children.append(children)
        return self._numbers[name]


@dataclass(frozen=True, eq=False)
class RecoveryRule:
    """A zero is recovered in a fully known cell that is relevant, or once all of `unsure` is known.

    Relevant are cells whose true count is their upper limit; unsure are cells above their lower
    limit, where the total gives the table away as soon as they are all known, and None where it
    never does. Never all False: then every cell is relevant instead.
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
    """Return when zeros of a published table, of any shape, are recovered.

    Where the total is published too, `lower` has the lower limit of each cell (0 if not given) and
    `total_upper` the upper limit of the total. Lower limits do not matter without a total.

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
    counts: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any], total_upper: int | None
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


EXACT_POPULATION = 2_000
"""Up to this population answers are exact rationals unless asked for otherwise."""


@dataclass(frozen=True, eq=False)
class SubtractionRisk:
    """The probability that a zero is recovered, for each number n of known people.

    - `method`: how it was worked out, in words.
    - `fractions`: the probabilities as exact rationals, where they are.
    - `lower`, `upper`: what the probabilities lie between: equal to them if exact, the stated error
      wide in floating point, a confidence interval where samples were drawn.
    - `possible_from`, `certain_from`: the smallest numbers of people for which the probability is
      above 0 and equal to 1; None if there is none, or where samples do not tell.
    - `draws`: how many samples were drawn, 0 if none.
    """

    n: Integers
    values: Floats
    population: int
    method: str
    lower: Floats
    upper: Floats
    fractions: tuple[Fraction, ...] | None = None
    possible_from: int | None = None
    certain_from: int | None = None
    draws: int = 0

    @classmethod
    def exactly(
        cls,
        n: Integers,
        fractions: tuple[Fraction, ...],
        population: int,
        method: str,
        possible_from: int | None,
        certain_from: int | None,
    ) -> SubtractionRisk:
        """Return probabilities that are exact rationals."""
        values = np.array([float(value) for value in fractions])
        return cls(
            n, values, population, method, values, values, fractions, possible_from, certain_from
        )

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities are exact rationals."""
        return self.fractions is not None

    def __repr__(self) -> str:
        return (
            f"SubtractionRisk({len(self.n)} numbers of known people of {self.population:,}, "
            f"{self.method})"
        )


def subtraction_risk(
    rule: RecoveryRule,
    *,
    n: Iterable[int] | None = None,
    within: Mask | None = None,
    exact_up_to: int = EXACT_POPULATION,
) -> SubtractionRisk:
    """Return SAP of a published table, alone or with its total.

    The numbers of known people go from 0 to the population if not given. Only zeros of the cells
    `within` count; all if not given. Up to the population `exact_up_to` rationals are exact.

    Examples
    --------
    >>> rule = recovery_rule([3, 1], [9, 9], lower=[1, 1], total_upper=4)
    >>> [str(value) for value in subtraction_risk(rule).fractions]
    ['0', '0', '0', '1/4', '1']
    """
    asked = numbers_of_people(n, rule.population)
    cells = np.ones(rule.counts.shape, np.bool_) if within is None else within
    return _risk_within(rule, cells, asked, exact=rule.population <= exact_up_to)


def cell_recovery(rule: RecoveryRule, *, n: Iterable[int] | None = None) -> Floats:
    """Return the probability of a recovered zero in each cell, with an axis for n in front.

    The sum over the cells is the expected number of recovered zeros.

    Examples
    --------
    >>> cell_recovery(recovery_rule([1, 2, 3], [1, 2, 4]), n=[3]).tolist()
    [[0.5, 0.2, 0.0]]
    """
    population = rule.population
    asked = numbers_of_people(n, population)
    n_known = np.minimum(asked, population)
    needed = rule.counts.copy()
    recoverable = rule.relevant
    if rule.unsure is not None:
        first = int(rule.counts[rule.unsure].sum())
        either = np.where(rule.unsure, first, rule.counts + first)
        needed = np.where(rule.relevant, rule.counts, either)
        recoverable = np.ones(rule.counts.shape, np.bool_)
    found = np.zeros((len(asked), *rule.counts.shape))
    for size in np.unique(needed[recoverable]):
        cells = recoverable & (needed == size)
        found[:, cells] = all_known(int(size), population, n_known)[:, None]
    return found


def numbers_of_people(n: Iterable[int] | None, population: int) -> Integers:
    """Return numbers of known people as an array, or refuse them; all of them if none is given."""
    if n is None:
        return np.arange(population + 1)
    listed = np.asarray(list(n))
    wrong = listed.size and (
        listed.ndim != 1 or not np.issubdtype(listed.dtype, np.integer) or bool(listed.min() < 0)
    )
    if wrong:
        raise InputError(
            Reason.BAD_OPTION,
            "The probability of recovering zeros was asked for some numbers of known people.",
            "Not all of them are whole numbers from 0 up.",
            "Give numbers of people, such as 0 to 20.",
        )
    return listed.astype(np.int64)


def _risk_within(
    rule: RecoveryRule, cells: Mask, asked: Integers, *, exact: bool
) -> SubtractionRisk:
    """Return the probability that a zero is recovered within some cells."""
    population = rule.population
    n_known = np.minimum(asked, population)
    possible, certain = _thresholds(rule, cells)
    if exact:
        recovered, of = samples_with_zero(rule, cells), binomials(population)
        whole = {int(k): Fraction(recovered[int(k)], of[int(k)]) for k in n_known}
        fractions = tuple(whole[int(k)] for k in n_known)
        method = "exact, by a generating function"
        return SubtractionRisk.exactly(asked, fractions, population, method, possible, certain)
    values = _floats_within(rule, cells, n_known)
    never = n_known < (population + 1 if possible is None else possible)
    always = n_known >= (population + 1 if certain is None else certain)
    values = np.where(never, 0.0, np.where(always, 1.0, np.clip(values, 0.0, 1.0)))
    return SubtractionRisk(
        asked, values, population, "in floating point, with an error below 1e-12",
        np.where(always, 1.0, np.maximum(values - ERROR, 0.0)),
        np.where(never, 0.0, np.minimum(values + ERROR, 1.0)), None, possible, certain,
    )  # fmt: skip


def samples_with_zero(rule: RecoveryRule, cells: Mask) -> list[int]:
    """Return for each n the number of samples in which a zero is recovered within some cells.

    Examples
    --------
    >>> samples_with_zero(recovery_rule([1, 2], [1, 2]), np.array([True, True]))
    [0, 1, 3, 1]
    """
    population = rule.population
    found = binomials(population)
    without = samples_without_full_cells(_sizes(rule, rule.relevant & cells), population)
    found = [a - b for a, b in zip(found, without, strict=True)]
    if rule.unsure is None:
        return found
    first = int(rule.counts[rule.unsure].sum())
    for sign, none_of in ((1, rule.relevant & cells), (-1, cells)):
        if np.any(none_of & rule.unsure):
            continue
        rest = samples_without_full_cells(_sizes(rule, none_of), population - first)
        for k, number in enumerate(rest):
            found[first + k] += sign * number
    return found


def _floats_within(rule: RecoveryRule, cells: Mask, n_known: Integers) -> Floats:
    population = rule.population
    found = some_cell_known(_sizes(rule, rule.relevant & cells), population, n_known)
    if rule.unsure is None:
        return found
    first = int(rule.counts[rule.unsure].sum())
    enough = n_known >= first
    more = n_known[enough] - first
    added = np.zeros(len(more))
    for sign, none_of in ((1, rule.relevant & cells), (-1, cells)):
        if not np.any(none_of & rule.unsure):
            rest = some_cell_known(_sizes(rule, none_of), population - first, more)
            added += sign * (1.0 - rest)
    found[enough] += all_known(first, population, n_known[enough]) * added
    return found


def _thresholds(rule: RecoveryRule, cells: Mask) -> tuple[int | None, int | None]:
    """Return from how many people a zero can be recovered within some cells, and must be."""
    sizes = _sizes(rule, rule.relevant & cells)
    fewest = [min(sizes)] if sizes else []
    left_out = len(sizes) if 0 not in sizes else None
    if rule.unsure is not None and cells.any():
        first = int(rule.counts[rule.unsure].sum())
        inside = np.any(rule.unsure & cells)
        fewest.append(first if inside else first + int(rule.counts[cells].min()))
        if left_out is not None and not np.any(rule.unsure & rule.relevant & cells):
            # No zero is recovered while one of the unsure people is left out, or one of each cell.
            one_of_each = int(cells.sum()) if rule.counts[cells].min() > 0 else left_out + 1
            left_out = min(left_out + 1, one_of_each)
    if not fewest:
        return None, None
    return min(fewest), 0 if left_out is None else rule.population - left_out + 1


def _sizes(rule: RecoveryRule, cells: Mask) -> list[int]:
    return [int(size) for size in rule.counts[cells]]
