from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import (
    HIDDEN,
    TIES,
    Barnardization,
    Conventional,
    Exact,
    Interval,
    RandomRounding,
    Scheme,
    Suppressed,
    parse_scheme,
    register_scheme,
)
from gamekeeper.errors import InputError, Reason

MOST = 60


class Halves(Scheme):
    """A scheme of a user: the count or the next larger one, each with one half."""

    name = "halves"

    @property
    def text(self):
        return "halves"

    def mass(self, true):
        return {true: Fraction(1, 2), true + 1: Fraction(1, 2)}

    def reach(self, published):
        return (max(0, published - 1), published) if published >= 0 else None


SCHEMES = [
    Exact(),
    *(Conventional(base) for base in (1, 3, 5, 9)),
    *(Conventional(base, ties) for base in (2, 4, 10) for ties in TIES),
    *(RandomRounding(base) for base in (1, 2, 3, 5, 10)),
    *(Barnardization(Fraction(k, 4)) for k in (1, 2, 3, 4)),
    Suppressed(),
    Suppressed(below=5),
    Interval((0,)),
    Interval((0, 1, 5, 20)),
    Halves(),
]


def behind(scheme, published):
    """The true counts that may be published so, by the mass function alone."""
    return [true for true in range(MOST) if scheme.mass(true).get(published, 0) > 0]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_mass_sums_to_one_and_bounds_are_its_support(scheme):
    for true in range(MOST):
        mass = scheme.mass(true)
        assert sum(mass.values()) == 1
        assert all(isinstance(chance, Fraction) and chance > 0 for chance in mass.values())
        for published in mass:
            low, high = scheme.bounds(published)
            assert low <= true
            assert high is None or true <= high
    for published in range(HIDDEN, MOST // 2):
        counts = behind(scheme, published)
        assert scheme.can_publish(published) == bool(counts)
        if counts:
            low, high = scheme.bounds(published)
            assert (low, MOST - 1 if high is None else high) == (counts[0], counts[-1])


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_likelihoods_are_the_mass_of_each_true_count(scheme):
    for published in range(HIDDEN, 30):
        if scheme.can_publish(published):
            low, weights = scheme.likelihood(published)
            if scheme.bounds(published)[1] is None:
                assert weights is None
            else:
                expected = [scheme.mass(low + k).get(published, 0) for k in range(len(weights))]
                assert weights == expected
                assert weights[0] > 0
                assert weights[-1] > 0


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_arrays_are_treated_like_single_counts(scheme):
    possible = [value for value in range(HIDDEN, 40) if scheme.can_publish(value)]
    for published in (np.array(possible), np.array(possible[1:] * 30).reshape(-1, 2, 3, 5)):
        lower, upper = scheme.limits(published)
        assert lower.shape == upper.shape == published.shape
        singles = [scheme.bounds(int(value)) for value in published.reshape(-1)]
        assert lower.reshape(-1).tolist() == [low for low, _ in singles]
        assert upper.reshape(-1).tolist() == [UNBOUNDED if h is None else h for _, h in singles]
    asked = np.arange(-1, 40).reshape(1, -1)
    assert scheme.possible(asked).tolist() == [[scheme.can_publish(v) for v in range(-1, 40)]]
    nothing = np.zeros((0, 3), int)
    assert scheme.limits(nothing)[0].shape == (0, 3)
    assert scheme.possible(nothing).shape == (0, 3)
    assert scheme.publish(nothing, np.random.default_rng(1)).shape == (0, 3)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_published_counts_occur_as_often_as_their_mass_says(scheme):
    rng = np.random.default_rng(11)
    n = 4000
    true = np.repeat(np.arange(12), n).reshape(4, -1)
    made = scheme.publish(true, rng)
    assert made.shape == true.shape
    for count in range(12):
        values, times = np.unique(made[true == count], return_counts=True)
        mass = scheme.mass(count)
        assert set(values.tolist()) == set(mass)
        for value, found in zip(values.tolist(), times.tolist(), strict=True):
            p = float(mass[value])
            assert abs(found - n * p) <= 5 * (n * p * (1 - p)) ** 0.5 + 1e-9


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SCHEMES), st.lists(st.integers(0, 10**12), max_size=20), st.integers(0, 9))
def test_bounds_hold_the_truth(scheme, counts, seed):
    true = np.array(counts, np.int64)
    lower, upper = scheme.limits(scheme.publish(true, np.random.default_rng(seed)))
    assert np.all(lower <= true)
    assert np.all(true <= upper)


def test_the_same_seed_publishes_the_same():
    true = np.arange(1000)
    for scheme in SCHEMES:
        first, again = (scheme.publish(true, np.random.default_rng(5)) for _ in range(2))
        assert np.array_equal(first, again)


def test_random_rounding_has_no_bias():
    for base in range(1, 12):
        for true in range(40):
            mass = RandomRounding(base).mass(true)
            assert sum(value * chance for value, chance in mass.items()) == true


@pytest.mark.parametrize(
    ("ties", "published_for_2", "published_for_6", "bounds_of_4"),
    [("up", 4, 8, (2, 5)), ("down", 0, 4, (3, 6)), ("even", 0, 8, (3, 5))],
)
def test_rules_for_ties(ties, published_for_2, published_for_6, bounds_of_4):
    scheme = Conventional(4, ties)
    assert scheme.mass(2) == {published_for_2: 1}
    assert scheme.mass(6) == {published_for_6: 1}
    assert scheme.bounds(4) == bounds_of_4


def test_ties_at_random_take_either_with_one_half():
    assert Conventional(4, "random").mass(2) == {0: Fraction(1, 2), 4: Fraction(1, 2)}
    assert Conventional(4, "random").bounds(4) == (2, 6)


@pytest.mark.parametrize("scheme", SCHEMES[:-1], ids=str)
def test_texts_are_read_back(scheme):
    assert parse_scheme(scheme.text) == scheme
    assert parse_scheme(scheme) is scheme


@pytest.mark.parametrize(
    ("given_as", "meant"),
    [
        (" Conventional : 5 ", Conventional(5)),
        ({"type": "conventional", "base": 4, "ties": "up"}, Conventional(4, "up")),
        ({"type": "barnardization", "p": "1/2"}, Barnardization(Fraction(1, 2))),
        ("barnardization:80%", Barnardization(Fraction(4, 5))),
        ({"type": "barnardization", "p": 0.1}, Barnardization(Fraction(1, 10))),
        ("barnardization:1/3", Barnardization(Fraction(1, 3))),
        ({"type": "interval"}, Interval()),
        ({"type": "interval", "cuts": [0, 3]}, Interval((0, 3))),
        ("conventional:5:up", Conventional(5)),
    ],
)
def test_schemes_are_read(given_as, meant):
    assert parse_scheme(given_as) == meant
    assert parse_scheme(meant.text) == meant


def test_an_even_base_needs_a_rule_for_ties():
    with pytest.raises(InputError) as refused:
        parse_scheme("conventional:4")
    assert refused.value.reason is Reason.BAD_OPTION
    assert "even" in str(refused.value)
    assert "'conventional:4:up'" in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        "conventional", "conventional:0", "conventional:-3", "conventional:x", "conventional:3:up:1",
        "conventional:4:sideways", "conventional:3.5", "random:99999999999", "random", "random:",
        "barnardization:0", "barnardization:1.1", "barnardization:x", "barnardization",
        "suppressed:1", "suppressed:x", "interval:1,2", "interval:0,5,5", "interval:0,x",
        "exact:1", "", "roundish:3", {"base": 3}, {"type": "random", "bass": 3},
        {"type": "random", "base": True}, {"type": "random", "base": 2.5},
        {"type": "interval", "cuts": 3},
    ],
)  # fmt: skip
def test_what_is_no_scheme_is_refused(wrong):
    with pytest.raises(InputError) as refused:
        parse_scheme(wrong)
    assert refused.value.reason in (Reason.BAD_OPTION, Reason.UNKNOWN_NAME)
    assert refused.value.do


def test_an_unknown_scheme_is_told_its_neighbours():
    with pytest.raises(InputError, match="Near to it: 'conventional'"):
        parse_scheme("convention:3")


@pytest.mark.parametrize("published", [-2, 1, 4])
def test_what_cannot_be_published_is_refused(published):
    for scheme in (Conventional(3), RandomRounding(3)):
        assert not scheme.can_publish(published)
        with pytest.raises(InputError) as refused:
            scheme.bounds(published)
        assert refused.value.reason is Reason.IMPOSSIBLE_COUNT
        with pytest.raises(InputError):
            scheme.limits([3, published])


def test_a_scheme_of_a_user_is_read_by_its_name():
    register_scheme("test-halves", Halves)
    register_scheme("test-halves", Halves)
    assert isinstance(parse_scheme("test-halves"), Halves)
    with pytest.raises(InputError) as refused:
        register_scheme("test-halves", Exact)
    assert refused.value.reason is Reason.DUPLICATE
    with pytest.raises(InputError) as refused:
        register_scheme("Half:3", Halves)
    assert refused.value.reason is Reason.BAD_NAME
    register_scheme("test-no-scheme", lambda: 3)
    with pytest.raises(InputError, match="parameters"):
        parse_scheme("test-no-scheme")


def test_intervals_without_cuts_cannot_be_published():
    with pytest.raises(InputError, match="where the intervals begin"):
        Interval().publish([1, 2], np.random.default_rng(1))
    assert Interval().admits(2, None)
    assert not Interval().admits(3, 2)
    assert Interval((0, 5)).admits(0, 4)
    assert not Interval((0, 5)).admits(1, 4)


@pytest.mark.parametrize("given_as", [5, None, ["exact"], b"exact"])
def test_what_is_neither_a_text_nor_a_mapping_is_no_scheme(given_as):
    with pytest.raises(InputError, match="is no scheme"):
        parse_scheme(given_as)
