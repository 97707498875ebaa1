from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints
from gamekeeper.algorithms.subtraction.probability import recovery_rule, subtraction_risk
from gamekeeper.algorithms.subtraction.release import (
    release_group_risks,
    release_parts,
    release_risk,
)
from gamekeeper.algorithms.subtraction.sampling import RecoveryOracle
from gamekeeper.algorithms.subtraction.zeros import release_zeros
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases
from tests.twins.subtraction import release_by_definition, samples

ALL_MARGINS = [(0, 1), (0,), (1,), ()]


def summed(counts, axes):
    return counts.sum(axis=tuple(a for a in range(counts.ndim) if a not in axes))


def rounded(counts, margins, base):
    """Return the constraints of margins rounded to an odd base."""
    known = []
    for axes in margins:
        sums = np.asarray(summed(counts, axes))
        published = np.rint(sums / base).astype(int) * base
        near = (base - 1) // 2
        known.append((axes, np.maximum(published - near, 0), published + near))
    return CountConstraints.of(counts.shape, known)


@st.composite
def releases(draw):
    shape = draw(st.sampled_from([(2, 2), (1, 3), (2, 1), (4,)]))
    size = int(np.prod(shape))
    cells = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    counts = np.array(cells).reshape(shape)
    axes = [m for m in ALL_MARGINS if max(m, default=0) < len(shape)]
    margins = draw(st.lists(st.sampled_from(axes), min_size=1, max_size=3, unique=True))
    known = []
    for margin in margins:
        sums = np.asarray(summed(counts, margin))
        wide = draw(st.integers(0, 2))
        below = np.array(
            draw(st.lists(st.integers(0, wide), min_size=sums.size, max_size=sums.size))
        )
        above = np.array(
            draw(st.lists(st.integers(0, wide), min_size=sums.size, max_size=sums.size))
        )
        lower = np.maximum(sums - below.reshape(sums.shape), 0)
        known.append((margin, lower, sums + above.reshape(sums.shape)))
    return CountConstraints.of(shape, known), counts


@given(releases())
@cases(25)
def test_risk_and_zeros_are_the_definition(release):
    constraints, counts = release
    largest = int(constraints.cell_limits()[1].max())
    assume((largest + 1) ** counts.size <= 3_000)
    shares, cells = release_by_definition(constraints, counts, largest)
    risk = release_risk(constraints, counts)
    assert list(risk.fractions) == [1 - row[0] for row in shares]
    found = release_zeros(constraints, counts)
    for n, row in enumerate(shares):
        mine = dict(enumerate(found.zeros.fractions[n]))
        assert {k: p for k, p in mine.items() if p} == {k: p for k, p in enumerate(row) if p}
        assert found.cells[n].reshape(-1).tolist() == [float(p) for p in cells[n]]


def known_within(constraints, counts, largest, group, *, own_people):
    """Return for each n the probability of a zero within a group of cells, by all tables."""
    flat = [int(count) for count in counts.reshape(-1)]
    every = itertools.product(range(largest + 1), repeat=len(flat))
    tables = np.array([table for table in every if constraints.admits(table)])
    people = [c if j in group or not own_people else 0 for j, c in enumerate(flat)]
    recovering = [0] * (sum(people) + 1)
    for sample, ways in samples(people):
        most = tables[np.all(tables >= sample, axis=1)].max(axis=0)
        if any(sample[j] == flat[j] == most[j] for j in group):
            recovering[sum(sample)] += ways
    return [Fraction(number, math.comb(sum(people), n)) for n, number in enumerate(recovering)]


@given(releases(), st.booleans())
@cases(25)
def test_risks_of_groups_are_the_definition(release, own_people):
    constraints, counts = release
    largest = int(constraints.cell_limits()[1].max())
    assume((largest + 1) ** counts.size <= 3_000)
    groups = np.arange(counts.size).reshape(counts.shape) % 2
    found = release_group_risks(constraints, counts, groups, own_people=own_people)
    drawn = release_group_risks(
        constraints, counts, groups, own_people=own_people, method="sampling", draws=300,
        confidence=1 - 1e-7,
    )  # fmt: skip
    for group, (risk, sampled) in enumerate(zip(found, drawn, strict=True)):
        cells = np.flatnonzero(groups.reshape(-1) == group).tolist()
        right = known_within(constraints, counts, largest, cells, own_people=own_people)
        assert list(risk.fractions) == right
        assert ((sampled.lower <= risk.values) & (risk.values <= sampled.upper)).all()


@given(releases())
@settings(max_examples=25, deadline=None)
def test_draws_hold_the_exact_risk(release):
    constraints, counts = release
    exact = release_risk(constraints, counts)
    drawn = release_risk(constraints, counts, method="sampling", draws=500, confidence=1 - 1e-7)
    assert np.all((drawn.lower <= exact.values + 1e-12) & (exact.values <= drawn.upper + 1e-12))
    assert all(before <= after for before, after in pairwise(drawn.values))
    zeros = release_zeros(constraints, counts, method="sampling", draws=500, confidence=1 - 1e-7)
    right = release_zeros(constraints, counts)
    assert np.abs(zeros.cells - right.cells).max() <= zeros.zeros.error
    shorter = min(zeros.zeros.probabilities.shape[1], right.zeros.probabilities.shape[1])
    apart = zeros.zeros.probabilities[:, :shorter] - right.zeros.probabilities[:, :shorter]
    assert np.abs(apart).max() <= zeros.zeros.error


@given(releases(), st.data())
@cases(20)
def test_risk_within_cells_is_the_definition(release, data):
    constraints, counts = release
    largest = int(constraints.cell_limits()[1].max())
    assume((largest + 1) ** counts.size <= 3_000)
    size = counts.size
    within = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    shares, _ = release_by_definition(constraints, counts, largest, np.flatnonzero(within))
    assume(within.any())
    groups = within.astype(np.int64)
    risk = release_group_risks(constraints, counts, groups)[1]
    assert list(risk.fractions) == [1 - row[0] for row in shares]
    drawn = release_group_risks(
        constraints, counts, groups, method="sampling", draws=300, confidence=1 - 1e-7
    )[1]
    assert np.all((drawn.lower <= risk.values + 1e-12) & (risk.values <= drawn.upper + 1e-12))


def test_figure_18_gives_zeros_away_at_once():
    counts = np.array([[1, 3, 0], [4, 0, 0], [3, 2, 0]])
    everything = rounded(counts, ALL_MARGINS, 3)
    for method in ("exact", "sampling"):
        risk = release_risk(everything, counts, method=method)
        assert set(risk.fractions) == {1}
        assert risk.certain_from == 0
    table = release_risk(rounded(counts, [(0, 1)], 3), counts)
    assert [str(p) for p in table.fractions[:6]] == [
        "0",
        "1/13",
        "2/13",
        "3/13",
        "17/55",
        "503/1287",
    ]


def test_a_release_that_gives_nothing_away():
    counts = np.array([[2, 1], [1, 2]])
    unknown = CountConstraints.of((2, 2), [((), 0, UNBOUNDED)])
    for method in ("auto", "sampling"):
        assert set(release_risk(unknown, counts, method=method).fractions) == {0}
    assert (
        release_zeros(unknown, counts, method="sampling", draws=10).zeros.probabilities.tolist()
        == [[1.0]] * 7
    )


def test_a_table_with_its_total_needs_no_search():
    counts = np.array([3, 4, 5])
    constraints = rounded(counts, [(0,), ()], 5)
    risk = release_risk(constraints, counts)
    assert "generating function" in risk.method
    assert [str(p) for p in risk.fractions[9:]] == ["1/220", "1/22", "1/4", "1"]


def test_parts_are_put_together():
    # Two areas, each with margins of its own, searched apart and in one by orderings.
    rng = np.random.default_rng(8)
    counts = rng.poisson(1.2, (2, 2, 3))
    constraints = rounded(counts, [(0, 1), (0, 2), (0, 1, 2)], 3)
    assert len(release_parts(constraints, counts.reshape(-1))) == 2
    exact = release_risk(constraints, counts, method="exact")
    assert "2 of 2 parts" in exact.method
    drawn = release_risk(constraints, counts, method="sampling", draws=4_000, confidence=1 - 1e-6)
    assert np.all((drawn.lower <= exact.values + 1e-12) & (exact.values <= drawn.upper + 1e-12))
    assert 0 < exact.values[2] < 1


def test_parts_of_a_large_population_are_put_together_in_floats():
    counts = np.array([[900, 5], [700, 6], [500, 3]])
    exact_table = CountConstraints.of((3, 2), [((0, 1), counts), ((0,), counts.sum(axis=1))])
    n = [1, 100, 1000, 2000, 2114]
    found = release_risk(exact_table, counts, n=n)
    alone = subtraction_risk(recovery_rule(counts, counts), n=n)
    np.testing.assert_allclose(found.values, alone.values, rtol=0, atol=1e-12)
    assert found.fractions is None
    first = np.array([[True, True], [False, False], [False, False]])
    found = release_group_risks(exact_table, counts, 1 - first.astype(np.int64), n=n)[0]
    alone = subtraction_risk(recovery_rule(counts, counts), n=n, within=first)
    np.testing.assert_allclose(found.values, alone.values, rtol=0, atol=1e-12)


def test_what_the_search_cannot_decide_goes_to_an_integer_programme():
    rng = np.random.default_rng(2)
    counts = rng.poisson(1.5, (2, 2, 3))
    constraints = CountConstraints.of(
        counts.shape, [(axes, summed(counts, axes)) for axes in ((0, 1), (0, 2), (1, 2))]
    )
    flat = counts.reshape(-1)
    quick, slow = RecoveryOracle(constraints, flat), RecoveryOracle(constraints, flat, max_nodes=0)
    assert quick.candidates.tolist() == slow.candidates.tolist()
    people = np.repeat(np.arange(flat.size), flat)
    orders = rng.permuted(np.tile(people, (5, 1)), axis=1)
    assert quick.first_recoveries(orders).tolist() == slow.first_recoveries(orders).tolist()
    cells = quick.cell_recoveries(orders)
    assert cells.tolist() == slow.cell_recoveries(orders).tolist()
    assert cells.min(axis=1).tolist() == quick.first_recoveries(orders).tolist()


def test_draws_depend_on_the_seed_alone_and_tell_how_far_they_are():
    rng = np.random.default_rng(3)
    counts = rng.poisson(3, (4, 5))
    constraints = rounded(counts, ALL_MARGINS, 3)
    told = []
    one = release_risk(constraints, counts, draws=300, seed=5, progress=lambda *at: told.append(at))
    again = release_risk(constraints, counts, draws=300, seed=5)
    assert one.draws == 300
    assert one.values.tolist() == again.values.tolist()
    assert told[-1] == (300, 300)
    assert np.all(one.lower <= one.values)
    assert np.all(one.values <= one.upper)


def test_exact_beyond_the_limit_is_refused_with_an_estimate():
    counts = np.full((4, 5), 3)
    constraints = rounded(counts, ALL_MARGINS, 3)
    for function in (release_risk, release_zeros):
        with pytest.raises(LimitError, match="max_samples") as caught:
            function(constraints, counts, method="exact")
        assert "more than a billion (a number of 13 digits) samples" in str(caught.value)


def test_a_true_table_that_does_not_fit_is_refused():
    constraints = CountConstraints.of((2, 2), [((0,), [2, 1]), ((1,), [1, 2])])
    for truth, reason in (
        ([[41, 0], [0, 1]], Reason.CONFLICTING_COUNTS),
        ([1, 2, 3], Reason.MALFORMED),
        ([[1.5, 0.5], [0, 1]], Reason.BAD_COUNT),
        ([[-1, 3], [2, -1]], Reason.BAD_COUNT),
    ):
        with pytest.raises(InputError) as caught:
            release_risk(constraints, truth)
        assert caught.value.reason is reason
        assert "41" not in str(caught.value)


@pytest.mark.parametrize("options", [{"method": "exakt"}, {"draws": 0}, {"confidence": 1.0}])
def test_options_are_checked(options):
    with pytest.raises(InputError):
        release_risk(CountConstraints.of((1,), [((0,), [1])]), [1], **options)


@pytest.mark.parametrize("seed", range(8))
def test_an_exact_table_is_as_exact_with_its_own_margins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 60, (4, 5))
    alone = CountConstraints.of((4, 5), [((0, 1), truth)])
    margins = [((0,), truth.sum(1)), ((1,), truth.sum(0)), ((), truth.sum())]
    chosen = [margin for margin in margins if rng.random() < 0.7]
    known = CountConstraints.of((4, 5), [((0, 1), truth), *chosen])
    n = [0, 1, 5, 20, int(truth.sum())]
    with_margins = release_risk(known, truth, n=n)
    assert with_margins.fractions == release_risk(alone, truth, n=n).fractions
    assert with_margins.draws == 0
