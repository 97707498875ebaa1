"""Distances of one variable between the records of two files, by the kind of the variable.

A `Comparison` holds one variable of both files and says how far apart two records are: numbers
(absolute, squared, standardized, relative), ranks, categories (0 or 1), dates, texts, and
categories of different categorizations through the sinks they stand for: one minus the overlap of
the two sets of sinks, and impossible (infinite) where they have none in common.

Where a value is missing, the distance is what the rule for missing says:
- "expected": the mean distance over all pairs of observed values that are possible, so that a
  missing value speaks neither for nor against a link (the default);
- "largest": the largest distance that the observed values allow;
- "zero": as if equal; "impossible": no link; or any number.

Numbers are given as float64 with NaN for missing, codes as whole numbers with 0 for missing. A
block costs its pairs, and no memory beyond the block; texts are compared once per pair of distinct
texts. Lenz, A graph theoretical approach to record linkage (2003), phase 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linkage.comparison import (
    TEXT_MEASURES,
    Comparison,
    TextDistances,
    observed,
)
from gamekeeper.errors import InputError, Reason

Missing: TypeAlias = Literal["expected", "largest", "zero", "impossible"] | float
"""The distance where a value is missing, by rule or as a number."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

_MISSING_RULES = ("expected", "largest", "zero", "impossible")
# Sums of squares of larger numbers may be infinite.
_LARGEST = 1e150
_NUMBER_MEASURES = ("absolute", "squared", "standardized", "relative")


def compare_numbers(
    a: ArrayLike,
    b: ArrayLike,
    *,
    measure: Literal["absolute", "squared", "standardized", "relative"] = "absolute",
    missing: Missing = "expected",
    name: str = "number",
) -> Comparison:
    """Compare numbers.

    `measure` is "absolute" |x - y|; "squared" (x - y)^2; "standardized" |x - y| divided by the
    pooled standard deviation within the two files; "relative" |x - y| / max(|x|, |y|), 0 where both
    are 0. A variable that is constant within both files has no standard deviation: its standardized
    distance is 0, and a note says so. `name` is the variable's, for messages.

    Examples
    --------
    >>> compare_numbers([10.0], [8.0, 20.0], measure="relative").matrix().tolist()
    [[0.2, 0.5]]
    """
    _require(measure in _NUMBER_MEASURES, name, f"a measure '{measure}'", _NUMBER_MEASURES)
    x, y = _numbers(a, name), _numbers(b, name)
    factor, notes = 1.0, ()
    if measure == "standardized":
        deviation = _pooled_deviation(x, y)
        factor = 1.0 / deviation if deviation else 0.0
        if not deviation:
            notes = (f"'{name}' is constant within both files and tells no records apart.",)
    return _with_rule(Comparison(name, measure, x, y, factor, notes=notes), missing)


def compare_ranks(
    a: ArrayLike, b: ArrayLike, *, missing: Missing = "expected", name: str = "ordinal"
) -> Comparison:
    """Compare ordered categories by the difference of their codes over the range of the codes.

    So distances go from 0 to 1; code 0 is missing. Where there is only one code, the distance is 0
    and a note says so.

    Examples
    --------
    >>> compare_ranks([1, 5], [2]).matrix().tolist()
    [[0.25], [0.75]]
    """
    x, y = _codes(a, name), _codes(b, name)
    range_ = int(max(x.max(initial=1), y.max(initial=1))) - 1
    notes = () if range_ else (f"'{name}' has one rank and tells no records apart.",)
    left, right = (np.where(codes > 0, codes, math.nan) for codes in (x, y))
    factor = 1.0 / range_ if range_ else 0.0
    return _with_rule(Comparison(name, "absolute", left, right, factor, notes=notes), missing)


def compare_categories(
    a: ArrayLike, b: ArrayLike, *, missing: Missing = "expected", name: str = "nominal"
) -> Comparison:
    """Compare categories: 0 where codes are equal, 1 where they differ; code 0 is missing.

    Examples
    --------
    >>> compare_categories([1, 2], [2, 3]).matrix().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return _with_rule(Comparison(name, "different", _codes(a, name), _codes(b, name)), missing)


def compare_texts(
    a: ArrayLike,
    b: ArrayLike,
    texts_a: Sequence[str],
    texts_b: Sequence[str],
    *,
    measure: Literal["levenshtein", "transposition", "jaro-winkler"] = "levenshtein",
    missing: Missing = "expected",
    name: str = "text",
) -> Comparison:
    """Compare texts by a normalized edit distance from 0 to 1.

    Codes are 0 for missing, k for text k - 1 of the list of distinct texts. `measure` is
    "levenshtein" (insert, delete, replace), "transposition" (also swaps of neighbours) or
    "jaro-winkler" (common letters, with weight on a common beginning).

    Examples
    --------
    >>> compare_texts([1], [1, 2], ["bart"], ["bert", "anna"]).matrix().tolist()
    [[0.25, 1.0]]
    """
    _require(measure in TEXT_MEASURES, name, f"a measure '{measure}'", TEXT_MEASURES)
    x, y = _codes(a, name, len(texts_a)), _codes(b, name, len(texts_b))
    texts = TextDistances(texts_a, texts_b, measure)
    return _with_rule(Comparison(name, measure, x, y, texts=texts), missing)


def compare_sinks(
    a: ArrayLike,
    b: ArrayLike,
    sinks_a: ArrayLike,
    sinks_b: ArrayLike,
    *,
    missing: Missing = "expected",
    name: str = "category",
) -> Comparison:
    """Compare categories of different categorizations by the sinks they stand for.

    `sinks_a` and `sinks_b` are truth values, one row per code from 1 and one column per sink: is
    the sink in the category?

    Examples
    --------
    >>> compare_sinks([1, 2], [1], [[1, 1, 0], [0, 0, 1]], [[1, 0, 0]]).matrix().tolist()
    [[0.5], [inf]]
    """
    left, right = np.asarray(sinks_a, bool), np.asarray(sinks_b, bool)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise InputError(
            Reason.DIFFERENT_SINKS,
            f"The categories of '{name}' were to be compared by their sinks.",
            f"One file has sets of sinks of shape {left.shape}, the other {right.shape}.",
            "Give one row per category and one column per sink, the same sinks in both.",
        )
    x, y = _codes(a, name, len(left)), _codes(b, name, len(right))
    made = Comparison(
        name,
        "sinks",
        x,
        y,
        table=_overlaps(left, right),
        own_tables=(_overlaps(left, left), _overlaps(right, right)),
    )
    return _with_rule(made, missing)


def compare_fitting(
    a: ArrayLike,
    b: ArrayLike,
    fits: NDArray[np.bool_],
    *,
    missing: Missing = "expected",
    name: str = "category",
) -> Comparison:
    """Compare categories that can stand for several values with values: 0 where one can be the other.

    `fits` has truth values, a line per code of the first file from 1 and a column per code of the
    second. Other pairs have distance 1: a value may have been changed.

    Examples
    --------
    >>> compare_fitting([1, 2], [1, 2], np.array([[1, 1], [0, 1]], bool)).matrix().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    x, y = _codes(a, name, fits.shape[0]), _codes(b, name, fits.shape[1])
    table = np.where(fits, 0.0, 1.0)
    own = tuple(1.0 - np.eye(n) for n in fits.shape)
    made = Comparison(name, "fits", x, y, table=table, own_tables=(own[0], own[1]))
    return _with_rule(made, missing)


def _overlaps(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return one minus the share of sinks in common; infinite where there are none."""
    common = left.astype(np.float64) @ right.T.astype(np.float64)
    either = left.sum(1)[:, None] + right.sum(1) - common
    table = np.full(common.shape, np.inf, np.float64)
    np.subtract(1.0, common / np.maximum(either, 1), out=table, where=common > 0, casting="unsafe")
    return table


def _with_rule(comparison: Comparison, missing: Missing) -> Comparison:
    notes = comparison.notes
    if isinstance(missing, str):
        known = (*_MISSING_RULES, "a distance as a number")
        rule = f"a rule '{missing}' for missing values"
        _require(missing in _MISSING_RULES, comparison.name, rule, known)
        if missing == "zero" or not any(comparison.n_missing):
            distance = 0.0
        elif missing == "impossible":
            distance = math.inf
        elif missing == "largest":
            distance = comparison.largest_distance()
        else:
            distance = comparison.mean_distance()
        if math.isnan(distance):
            distance = 0.0
            notes += (f"'{comparison.name}' has no pair of observed values that is possible.",)
    else:
        distance = float(missing)
        at_least_zero = ("a number of at least 0",)
        unfit = "a distance of missing values that is negative or no number"
        _require(distance >= 0, comparison.name, unfit, at_least_zero)
    return replace(comparison, missing_distance=distance, notes=notes)


def _require(holds: bool, name: str, found: str, known: Sequence[str]) -> None:
    if not holds:
        raise InputError(
            Reason.BAD_OPTION,
            f"The variable '{name}' was to be compared between two files.",
            f"There is {found}.",
            f"It can be: {', '.join(known)}.",
        )


def _numbers(values: ArrayLike, name: str) -> Floats:
    numbers = np.ascontiguousarray(values, np.float64)
    _require(numbers.ndim == 1, name, "a table", ("one number per record",))
    is_large = bool((np.abs(numbers) > _LARGEST).any())
    found = f"an infinite value, or one beyond {np.log10(_LARGEST):.0f} digits"
    _require(not is_large, name, found, ("numbers", "NaN for missing"))
    return numbers


def _codes(values: ArrayLike, name: str, n_codes: int | None = None) -> Codes:
    given = np.asarray(values)
    if given.size == 0:
        return np.zeros(0, np.int32)
    kind = f"codes of type {given.dtype}"
    _require(given.ndim == 1 and given.dtype.kind in "iub", name, kind, ("whole numbers",))
    most = np.iinfo(np.int32).max if n_codes is None else n_codes
    fits = int(given.min()) >= 0 and int(given.max()) <= most
    _require(fits, name, "a code out of range", (f"codes from 1 to {most:,}", "0 for missing"))
    return np.ascontiguousarray(given, np.int32)


def _pooled_deviation(a: Floats, b: Floats) -> float:
    squares = degrees = 0.0
    for values in (np.sort(observed(a)), np.sort(observed(b))):
        if len(values) and values.min() < values.max():
            squares += float(((values - values.mean()) ** 2).sum())
        degrees += max(len(values) - 1, 0)
    return math.sqrt(squares / degrees) if degrees else 0.0
