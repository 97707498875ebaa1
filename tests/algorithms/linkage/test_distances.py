from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.comparison import (
    mean_absolute,
    mean_different,
    mean_relative,
    mean_squared,
)
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_numbers,
    compare_ranks,
    compare_sinks,
    compare_texts,
)
from gamekeeper.errors import InputError, Reason

NUMBERS = st.lists(st.integers(-20, 20).map(lambda n: n / 4), min_size=1, max_size=7)
GAPPY = st.lists(
    st.one_of(st.just(math.nan), st.integers(-20, 20).map(lambda n: n / 4)), min_size=1, max_size=7
)
CODES = st.lists(st.integers(0, 3), min_size=1, max_size=7)
WORDS = ["anna", "anne", "bert", "berta", "o", ""]


def relative(x, y):
    return 0.0 if x == y else abs(x - y) / max(abs(x), abs(y))


def pooled_deviation(a, b):
    parts = [[x for x in side if not math.isnan(x)] for side in (a, b)]
    degrees = sum(max(len(part) - 1, 0) for part in parts)
    squares = sum((x - sum(part) / len(part)) ** 2 for part in parts for x in part)
    return math.sqrt(squares / degrees) if degrees else 0.0


def levenshtein(x, y):
    previous = list(range(len(y) + 1))
    for i, letter in enumerate(x, 1):
        current = [i]
        for j, other in enumerate(y, 1):
            change = previous[j - 1] + (letter != other)
            current.append(min(previous[j] + 1, current[-1] + 1, change))
        previous = current
    return previous[-1] / max(len(x), len(y)) if x or y else 0.0


def pairs_by_definition(a, b, distance, is_missing, missing):
    """Every pair by the definition; the expected distance as a plain mean."""
    known = [(x, y) for x, y in product(a, b) if not is_missing(x) and not is_missing(y)]
    distances = [d for d in (distance(x, y) for x, y in known) if math.isfinite(d)]
    if missing == "expected":
        missing = sum(distances) / len(distances) if distances else 0.0
    return [[missing if is_missing(x) or is_missing(y) else distance(x, y) for y in b] for x in a]


def assert_like(comparison, expected):
    expected = np.array(expected)
    assert np.allclose(comparison.matrix(), expected, rtol=1e-9, atol=1e-12)
    rows, columns = np.divmod(np.arange(expected.size), expected.shape[1])
    assert np.allclose(comparison.pairs(rows, columns), expected.ravel(), rtol=1e-9, atol=1e-12)
    assert np.allclose(comparison.matrix(slice(1, None)), expected[1:], rtol=1e-9, atol=1e-12)


@given(GAPPY, GAPPY, st.sampled_from(["expected", 0.5]))
def test_numbers(a, b, missing):
    deviation = pooled_deviation(a, b)
    measures = {
        "absolute": lambda x, y: abs(x - y),
        "squared": lambda x, y: (x - y) ** 2,
        "relative": relative,
        "standardized": lambda x, y: abs(x - y) / deviation if deviation > 0 else 0.0,
    }
    for measure, distance in measures.items():
        comparison = compare_numbers(a, b, measure=measure, missing=missing)
        assert_like(comparison, pairs_by_definition(a, b, distance, math.isnan, missing))


@given(NUMBERS, NUMBERS)
def test_mean_distances_without_making_the_pairs(a, b):
    x, y = np.array(a), np.array(b)
    pairs = list(product(a, b))
    assert mean_absolute(x, y) == pytest.approx(np.mean([abs(p - q) for p, q in pairs]))
    assert mean_squared(x, y) == pytest.approx(np.mean([(p - q) ** 2 for p, q in pairs]))
    assert mean_relative(x, y) == pytest.approx(np.mean([relative(p, q) for p, q in pairs]))


@given(CODES, CODES, st.sampled_from(["expected", 0.25]))
def test_categories(a, b, missing):
    comparison = compare_categories(a, b, missing=missing)
    assert_like(
        comparison, pairs_by_definition(a, b, lambda x, y: float(x != y), lambda x: x == 0, missing)
    )
    known = [np.array([x for x in side if x]) for side in (a, b)]
    if len(known[0]) and len(known[1]):
        expected = np.mean([x != y for x, y in product(*known)])
        assert mean_different(*known) == pytest.approx(expected)


@given(CODES, CODES)
def test_ranks(a, b):
    def distance(x, y):
        return abs(x - y) / max(max(*a, *b) - 1, 1)

    assert_like(
        compare_ranks(a, b), pairs_by_definition(a, b, distance, lambda x: x == 0, "expected")
    )


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.booleans(),
)
def test_texts(a, b, kept):
    texts_a, texts_b = WORDS[:5], WORDS[1:]
    with pytest.MonkeyPatch.context() as patch:
        if not kept:
            patch.setattr("gamekeeper.algorithms.linkage.comparison._KEPT_CELLS", 0)
        comparison = compare_texts(a, b, texts_a, texts_b)

        def distance(x, y):
            return levenshtein(texts_a[x - 1], texts_b[y - 1])

        assert_like(comparison, pairs_by_definition(a, b, distance, lambda x: x == 0, "expected"))
        comparison.matrix()
        assert np.allclose(comparison.pairs([0], [0]), comparison.matrix()[0, 0])


def test_text_measures_differ_where_they_should():
    def distance(measure):
        return compare_texts([1], [1], ["marta"], ["amrta"], measure=measure).matrix().item()

    assert distance("levenshtein") == pytest.approx(2 / 5)
    assert distance("transposition") == pytest.approx(1 / 5)
    # Jaro: 5 common letters, 1 transposition; no common beginning to add to it.
    assert distance("jaro-winkler") == pytest.approx(1 - (1 + 1 + 4 / 5) / 3)


def test_the_mean_of_very_many_texts_is_estimated_near_the_exact_one():
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("abc"), 4)) for _ in range(30)]
    codes = np.arange(1, 31)
    exact = compare_texts(codes, codes, texts, texts).mean_distance()
    many = texts * 40
    spread = rng.integers(1, 1201, 3000)
    estimated = compare_texts(spread, spread, many, many).mean_distance()
    assert estimated == pytest.approx(exact, abs=0.02)


@given(
    st.lists(st.integers(0, 7), min_size=1, max_size=4),
    st.lists(st.integers(0, 7), min_size=1, max_size=4),
    st.data(),
)
def test_sinks(masks_a, masks_b, data):
    a = data.draw(st.lists(st.integers(0, len(masks_a)), min_size=1, max_size=6))
    b = data.draw(st.lists(st.integers(0, len(masks_b)), min_size=1, max_size=6))
    sets = [
        [{k for k in range(3) if mask >> k & 1} for mask in side] for side in (masks_a, masks_b)
    ]

    def distance(x, y):
        one, other = sets[0][x - 1], sets[1][y - 1]
        return 1 - len(one & other) / len(one | other) if one & other else math.inf

    rows = [[[k in members for k in range(3)] for members in side] for side in sets]
    comparison = compare_sinks(a, b, *rows)
    expected = pairs_by_definition(a, b, distance, lambda x: x == 0, "expected")
    assert_like(comparison, expected)
    doubled = np.zeros((len(a), len(b)))
    comparison.add_matrix(doubled, 0.0)
    assert (np.isinf(doubled) == np.isinf(np.array(expected))).all()


@pytest.mark.parametrize(
    ("rule", "expected"), [("zero", 0.0), ("largest", 9.0), ("impossible", math.inf), (7, 7.0)]
)
def test_rules_for_missing_values(rule, expected):
    comparison = compare_numbers([1.0, math.nan, 3.0], [10.0, 4.0], missing=rule)
    assert comparison.matrix()[1].tolist() == [expected] * 2
    assert comparison.pairs([1], [0]).item() == expected
    assert comparison.n_missing == (1, 0)


def test_the_largest_distance_by_measure():
    def largest(a, b, measure):
        return compare_numbers(a, b, measure=measure).largest_distance()

    assert largest([1, 2], [5], "absolute") == 4
    assert largest([1, 2], [5], "squared") == 16
    assert largest([1, 2], [5], "relative") == 1
    assert largest([1, 2], [-5], "relative") == 2
    assert compare_categories([1], [1]).largest_distance() == 1
    assert compare_sinks([1], [1], [[1, 1]], [[1, 0]]).largest_distance() == 0.5
    assert math.isnan(compare_categories([0], [1]).largest_distance())


def test_a_constant_variable_has_distance_0_and_a_note():
    comparison = compare_numbers([5.0, 5.0], [5.0], measure="standardized", name="Height")
    assert comparison.matrix().tolist() == [[0.0], [0.0]]
    assert "'Height' is constant" in comparison.notes[0]
    shifted = compare_numbers([5.0, 5.0], [6.0, 6.0], measure="standardized")
    assert not shifted.matrix().any()
    assert shifted.notes
    assert compare_ranks([1, 1], [1]).notes


def test_without_any_observed_value_the_distance_is_0_with_a_note():
    comparison = compare_categories([0, 0], [1, 2])
    assert not comparison.matrix().any()
    assert "no pair of observed values" in comparison.notes[0]


def test_empty_files_have_empty_matrices():
    assert compare_numbers([], [1.0]).matrix().shape == (0, 1)
    assert compare_categories([], []).matrix().shape == (0, 0)
    assert compare_texts([], [1], [], ["a"]).matrix().shape == (0, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: compare_numbers([1], [1], measure="cubed"),
        lambda: compare_numbers([math.inf], [1]),
        lambda: compare_numbers([[1]], [[1]]),
        lambda: compare_numbers([1], [1], missing="never"),
        lambda: compare_numbers([1], [1], missing=-1),
        lambda: compare_categories([1.5], [1]),
        lambda: compare_categories([-1], [1]),
        lambda: compare_ranks([-1], [1]),
        lambda: compare_texts([2], [1], ["a"], ["b"]),
        lambda: compare_texts([1], [1], ["a"], ["b"], measure="sound"),
        lambda: compare_sinks([2], [1], [[1]], [[1]]),
    ],
)
def test_what_cannot_be_compared_is_refused(wrong):
    with pytest.raises(InputError) as caught:
        wrong()
    assert caught.value.reason is Reason.BAD_OPTION


def test_different_sinks_are_refused():
    with pytest.raises(InputError) as caught:
        compare_sinks([1], [1], [[1, 0]], [[1]])
    assert caught.value.reason is Reason.DIFFERENT_SINKS


def test_no_value_of_a_file_is_shown():
    comparison = compare_texts([1], [1], ["CANARY"], ["CANARIES"], name="Name")
    numbers = compare_numbers([123456789.0], [1.0])
    shown = repr(comparison) + repr(numbers) + repr(comparison.texts)
    assert "CANAR" not in shown
    assert "123456789" not in shown
