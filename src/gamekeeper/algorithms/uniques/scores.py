"""Scores of sample uniques, their calibration by DIS, and class sizes of keys with missing cells.

**Scores.** With ATT key variables and a minimal sample unique (MSU) of s variables, the SUDA score
of 2002 gives the weight floor(10^power (2^(ATT-s) - 1) / C(ATT, s)) and the intermediate score IS
the weight (ATT-s)!, the number of paths from the MSU up to the whole key. POL = IS / ATT! is at
most 1. Tools that search up to M variables only use prod_{i=s}^{M-1} (ATT-i), here `TOOL_IS`. Every
score of a record, variable, category or file is a sum of such weights, so it follows from counts of
MSUs by size. Elliot and Manning 2003; Smith's thesis, chapter 8. Note that the 2002 weight is 0 for
s = ATT and does not fall steadily with s (ATT = 12: more for 11 variables than for 8). Weights are
exact integers; (ATT-s)! is beyond int64 for ATT-s > 20, where sums are Python integers.

**Calibration.** DIS-SUDA (Elliot and Manning 2003) divides DIS times the number of sample uniques
among them in proportion to the natural logarithm of the score; what exceeds 1 is cut and divided
again among the others. The end of that loop is min(1, c ln(score)) with one c, found here by
sorting. DIS-IS (Smith's thesis, chapter 8, with the index of the sum corrected) is 1 / (1 + w_j
(U/D - U)) with w_j = S_j^-Q / sum_i S_i^-Q and Q = 1 + (8-K)/20 for K key variables. The harmonic
mean of the result is D where every score is positive. Both give 0 to a sample unique without score
(score 0; for DIS-SUDA also 1, whose logarithm is 0), and cost a sort or less. The DIS-SUDA values
depend on the power of ten in the SUDA score, since ln(10 s) is not proportional to ln(s): compare
them only for the same power.

**Class sizes.** Under "ignore" a key r is in a class with every record that has, wherever r has a
value, the same value. Under "wildcard" it is in a class with every record that has, on every
variable, the same value or a missing cell on either side. Neither is an equivalence, so a class
belongs to a key. Keys with the same set of missing variables are handled at once: those whose
comparison with a set of other keys rests on the same variables are joined by sorting. With t such
sets among n distinct keys the cost is t n log n, whatever the number of pairs; t is 1 where nothing
is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import KeyFields, word_numbers
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import Progress


def class_sizes(
    codes: NDArray[np.integer],
    counts: NDArray[Any],
    *,
    missing: str,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return, for each distinct key, how many records are in its class.

    There is one distinct key per row; 0 is a missing cell. `counts` says how many records have the
    key, or the sum of their weights; `missing` is "category", "exclude" (both: the counts as they
    are), "ignore" or "wildcard". Progress is in sets of missing variables; it may raise.

    Examples
    --------
    >>> keys = np.array([[1, 1], [1, 0], [2, 1]])
    >>> class_sizes(keys, np.array([1, 1, 1]), missing="ignore")
    array([1, 2, 1])
    >>> class_sizes(keys, np.array([1, 1, 1]), missing="wildcard")
    array([2, 2, 1])
    """
    if missing not in ("ignore", "wildcard"):
        return counts.copy()
    # Keys mostly come in their order, and so do words whose first bits are the first variable's.
    codes = codes[:, ::-1]
    masks = np.zeros(len(codes), dtype=np.uint64)
    for place in range(codes.shape[1]):
        masks |= (codes[:, place] == 0).astype(np.uint64) << np.uint64(place)
    patterns, pattern_of = np.unique(masks, return_inverse=True)
    by_pattern = np.split(
        np.argsort(pattern_of, kind="stable"),
        np.cumsum(np.bincount(pattern_of, minlength=len(patterns)))[:-1],
    )
    fields = KeyFields.for_codes(codes)
    keys = fields.pack(codes)
    sizes = np.zeros_like(counts)
    for done, pattern in enumerate(patterns.tolist()):
        own = by_pattern[done]
        if missing == "ignore" and pattern == 0:  # keys are distinct: only equals are equal
            sizes[own] = counts[own]
            continue
        compared = _comparisons(pattern, patterns.tolist(), missing)
        kept = fields.masks(fields.every & ~np.array(list(compared), dtype=np.uint64))
        for mask, others in zip(kept, compared.values(), strict=True):
            partners = np.concatenate([by_pattern[place] for place in others])
            if fields.n_words == 1:
                own_keys, their_keys = keys[own, 0] & mask[0], keys[partners, 0] & mask[0]
            else:
                own_keys, their_keys = word_numbers(keys[own] & mask, keys[partners] & mask)
            sizes[own] += _sums_of_equals(own_keys, their_keys, counts[partners])
        if progress is not None:
            progress(done + 1, len(patterns))
    return sizes


def _comparisons(pattern: int, patterns: Sequence[int], missing: str) -> dict[int, list[int]]:
    """Return which patterns are compared with a pattern, by the variables left out of it."""
    if missing == "ignore":
        within = [place for place, other in enumerate(patterns) if not other & ~pattern]
        return {pattern: within}
    found: dict[int, list[int]] = {}
    for place, other in enumerate(patterns):
        found.setdefault(pattern | other, []).append(place)
    return found


def _sums_of_equals(
    left: NDArray[np.integer[Any]], right: NDArray[np.integer[Any]], counts: NDArray[Any]
) -> NDArray[Any]:
    """Return, for each key on the left, the counts of the keys on the right that equal it."""
    few, many = (left, right) if len(left) <= len(right) else (right, left)
    known, place_of_few = np.unique(few, return_inverse=True)
    place_of_many = np.searchsorted(known, many).clip(max=len(known) - 1)
    equal = known[place_of_many] == many
    totals = np.zeros(len(known), dtype=counts.dtype)
    if few is left:
        np.add.at(totals, place_of_many[equal], counts[equal])
        return totals[place_of_few]
    np.add.at(totals, place_of_few, counts)
    return np.where(equal, totals[place_of_many], totals.dtype.type(0))


_MOST_POWER = 18
_INT64_MOST = int(np.iinfo(np.int64).max)


class ScoreKind(StrEnum):
    """How a minimal sample unique is weighted by its size."""

    SUDA = "suda"
    IS = "is"
    TOOL_IS = "tool_is"


def size_weights(
    n_variables: int,
    kind: ScoreKind | str = ScoreKind.IS,
    *,
    power: int = 6,
    max_size: int | None = None,
) -> tuple[int, ...]:
    """Return the exact weight of a MSU of each size 0 .. max_size, given the number of key variables (ATT).

    The kind is 'suda' (2002), 'is', or 'tool_is' (IS as tools with a largest size have it, the only
    one that depends on `max_size`; all sizes by default). `power` is the power of ten of the SUDA
    score; each weight is cut to an integer after multiplying.

    Examples
    --------
    >>> size_weights(4, "is")
    (24, 6, 2, 1, 1)
    >>> size_weights(4, "suda", power=2)
    (1500, 175, 50, 25, 0)
    >>> size_weights(4, "tool_is", max_size=3)
    (24, 6, 2, 1)
    """
    largest = n_variables if max_size is None else max_size
    problems = [
        Problem(Reason.BAD_OPTION, name, f"{found} was given.", do)
        for name, found, is_right, do in (
            ("n_variables", n_variables, n_variables >= 1, "Give 1 or more."),
            ("power", power, 0 <= power <= _MOST_POWER, f"Give 0 to {_MOST_POWER}."),
            ("max_size", largest, 0 <= largest <= n_variables, "Give 0 to the number of keys."),
        )
        if not is_right
    ]
    if kind not in set(ScoreKind):
        kinds = ", ".join(f"'{known}'" for known in ScoreKind)
        problems.append(Problem(Reason.BAD_OPTION, "kind", "It is not known.", f"Use {kinds}."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Weights of minimal sample uniques were asked for.",
            "They cannot be given as asked.",
            problems=problems,
        )
    sizes = range(largest + 1)
    if kind == ScoreKind.SUDA:
        return tuple(
            10**power * (2 ** (n_variables - size) - 1) // math.comb(n_variables, size)
            for size in sizes
        )
    top = n_variables if kind == ScoreKind.IS else largest
    return tuple(math.prod(n_variables - i for i in range(size, top)) for size in sizes)


def weigh(
    counts: NDArray[np.integer[Any]], weights: Sequence[int], *, exact: bool = True
) -> NDArray[Any]:
    """Return the score of every line of a table of MSU counts by size.

    The last axis is the size 0 .. max_size, as of the weights; a line may be a record, a variable,
    a category or the whole file. Exact integers (int64 where every sum fits, else an array of
    Python integers) or, if not `exact`, float64 with a relative error of some 1e-16 per size.

    Examples
    --------
    >>> weigh(np.array([[0, 1, 0, 2, 0], [0, 0, 3, 0, 0]]), size_weights(4, "is"))
    array([8, 6])
    """
    if counts.shape[-1] != len(weights):
        raise InputError(
            Reason.BAD_OPTION,
            f"Counts for {counts.shape[-1]} sizes were to be weighted.",
            f"There are weights for {len(weights)} sizes.",
            "Use size_weights with the largest size that was searched.",
        )
    if not exact:
        return counts.astype(np.float64) @ np.array([float(weight) for weight in weights])
    most = counts.reshape(-1, len(weights)).max(axis=0, initial=0)
    if sum(int(n) * weight for n, weight in zip(most, weights, strict=True)) <= _INT64_MOST:
        # A weight that no MSU has may be beyond int64 by itself.
        small = [weight if n else 0 for n, weight in zip(most, weights, strict=True)]
        return counts.astype(np.int64) @ np.array(small, dtype=np.int64)
    lines = counts.reshape(-1, len(weights)).tolist()
    sums = np.empty(len(lines), dtype=object)
    sums[:] = [sum(n * weight for n, weight in zip(line, weights, strict=True)) for line in lines]
    return sums.reshape(counts.shape[:-1])


def proportions_of_lattice(
    scores: NDArray[Any], n_variables: int, *, exact: bool = False
) -> NDArray[Any]:
    """Return POL, the IS scores as shares of ATT!; exact fractions as an array of objects.

    Examples
    --------
    >>> proportions_of_lattice(np.array([6, 12]), 4)
    array([0.25, 0.5 ])
    >>> proportions_of_lattice(np.array([7]), 4, exact=True).tolist()
    [Fraction(7, 24)]
    """
    whole = math.factorial(n_variables)
    if exact:
        shares = np.empty(len(scores), dtype=object)
        shares[:] = [Fraction(int(score), whole) for score in scores]
        return shares
    return scores.astype(np.float64) / float(whole)


def percentages(levels: Iterable[int], total: int) -> tuple[float, ...] | None:
    """Return levels as percentages of the file's score, or None where that score is 0.

    A MSU of s variables counts for each of them, so the variables of a file sum to more than 100.

    Examples
    --------
    >>> percentages([4, 3, 3], 8)
    (50.0, 37.5, 37.5)
    """
    if total == 0:
        return None
    return tuple(float(Fraction(100 * int(level), int(total))) for level in levels)


DIS_IS_MOST_VARIABLES = 27
"""The most key variables for which DIS-IS ranks records as the score does (Q > 0)."""


class Apportionment(NamedTuple):
    """DIS-SUDA values, and what is left when every record with a weight has 1."""

    values: NDArray[np.float64]
    unallocated: float


def dis_suda(
    scores: Sequence[int | float] | NDArray[Any], dis: Fraction | float | None
) -> Apportionment:
    """Divide DIS times the number of sample uniques among them by the logarithm of the score.

    Scores are those of every sample unique, and of no other record. The DIS of the file is None
    (undefined) only where there is no sample unique.

    Examples
    --------
    >>> dis_suda([10, 100, 1000], 0.5).values.round(2)
    array([0.25, 0.5 , 0.75])
    >>> dis_suda([5, 25, 625], 0.95).values.round(2)
    array([0.85, 1.  , 1.  ])
    """
    share = _checked_share(scores, dis, "DIS-SUDA")
    weights = np.maximum(_logarithms(scores), 0.0)
    total = share * len(weights)
    order = np.argsort(-weights, kind="stable")
    falling = weights[order][: np.count_nonzero(weights)]
    if len(falling) <= total or not len(falling):
        return Apportionment(np.where(weights > 0, 1.0, 0.0), max(0.0, total - len(falling)))
    # With the k largest at 1, the others get c times their weight; the smallest k for which the
    # next largest stays within 1 is the end of the loop.
    rests = np.cumsum(falling[::-1])[::-1]
    factors = (total - np.arange(len(falling))) / rests
    n_capped = int(np.argmax(factors * falling <= 1.0))
    values = np.minimum(1.0, factors[n_capped] * weights)
    values[order[:n_capped]] = 1.0
    return Apportionment(values, 0.0)


def dis_is_power(n_variables: int) -> Fraction:
    """Return Q = 1 + (8-K)/20, which must be positive for DIS-IS to rank as the score does.

    Examples
    --------
    >>> dis_is_power(8), dis_is_power(12)
    (Fraction(1, 1), Fraction(4, 5))
    """
    if not 1 <= n_variables <= DIS_IS_MOST_VARIABLES:
        raise InputError(
            Reason.BAD_OPTION,
            f"DIS-IS for {n_variables} key variables was asked for.",
            f"Its power 1 + (8-K)/20 is positive for 1 to {DIS_IS_MOST_VARIABLES} key variables;"
            " it is 0 for 28 and turns the ranking round beyond.",
            "Use fewer key variables, or another score.",
        )
    return Fraction(28 - n_variables, 20)


def dis_is(
    scores: Sequence[int | float] | NDArray[Any],
    dis: Fraction | float | None,
    n_variables: int,
    *,
    power: Fraction | float | None = None,
) -> NDArray[np.float64]:
    """Turn scores of sample uniques into estimated probabilities of a correct match.

    Scores are the IS of every sample unique, or another score such as SUDA's; DIS is as for
    `dis_suda`. There are 1 to 27 key variables (K), or any number with another power than Q = 1 +
    (8-K)/20.

    Examples
    --------
    >>> dis_is([720, 24, 6], 0.2, 8).round(4)
    array([0.9264, 0.2955, 0.0949])
    """
    share = _checked_share(scores, dis, "DIS-IS")
    exponent = float(dis_is_power(n_variables) if power is None else power)
    logarithms = _logarithms(scores)
    values = np.zeros(len(logarithms))
    scored = np.isfinite(logarithms)
    if share == 0 or not scored.any():
        return values
    # Scores may be as large as 64!: what is added up are their ratios to the smallest share.
    steps = -exponent * logarithms[scored]
    shares = np.exp(steps - steps.max())
    false_matches = len(values) / share - len(values)
    values[scored] = 1.0 / (1.0 + shares / shares.sum() * false_matches)
    return values


def _logarithms(scores: Sequence[int | float] | NDArray[Any]) -> NDArray[np.float64]:
    """Return ln(score), minus infinity for 0; scores may be Python integers of any size."""
    given = np.asarray(scores)
    if given.dtype == object:
        return np.array([math.log(s) if s > 0 else -math.inf for s in given], dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(given.astype(np.float64))


def _checked_share(
    scores: Sequence[int | float] | NDArray[Any], dis: Fraction | float | None, name: str
) -> float:
    given = np.asarray(scores)
    if given.dtype == object:
        n_wrong = sum(not 0 <= s < math.inf for s in given)
    else:
        n_wrong = int(np.count_nonzero(~((given >= 0) & np.isfinite(given))))
    share = 0.0 if dis is None and not len(given) else dis
    if share is None or not 0 <= share <= 1 or n_wrong:
        raise InputError(
            Reason.BAD_OPTION,
            f"{name} of {len(given):,} sample uniques was asked for.",
            f"{n_wrong:,} scores are negative or not numbers."
            if n_wrong
            else "The DIS of the file is not a number from 0 to 1.",
            "Give the scores of the sample uniques and the DIS of the same file.",
        )
    return float(share)
