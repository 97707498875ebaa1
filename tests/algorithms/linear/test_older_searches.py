"""One search against the two that were before it: the same bounds, and as tight."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.bounds.integer_bounds import integer_bounds
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.linear.search import FactSearch
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from tests.given.cell_tables import random_tables
from tests.twins import bounds_of_counts, bounds_of_facts


def random_release(rng):
    """Return margins of a random table: exact, rounded, hidden in part, recoded, perhaps wrong."""
    n_axes = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(1, 6 if n_axes < 4 else 4, n_axes))
    size = int(10.0 ** rng.choice([0, 0, 1, 6]))
    truth = rng.poisson(rng.gamma(0.7, 3.0, shape)) * size
    margins = []
    for _ in range(int(rng.integers(1, 5))):
        groups = []
        for length in shape:
            kind = rng.integers(4)
            own = [
                np.arange(length),
                np.arange(length),
                np.zeros(length),
                rng.integers(0, 3, length),
            ]
            groups.append(np.unique(own[kind], return_inverse=True)[1].astype(np.int64))
        sizes = tuple(int(group.max()) + 1 for group in groups)
        nothing = np.zeros(sizes, np.int64)
        sums = CountMargin(tuple(groups), nothing, nothing).sums(truth)
        lower, upper = sums.copy(), sums.copy()
        kind = rng.integers(4)
        if kind == 1:
            base = int(rng.integers(2, 6)) * size
            lower = np.maximum(sums // base * base - base // 2, 0)
            upper = lower + 2 * base
        if kind >= 2:
            hidden = rng.random(sizes) < rng.choice([0.1, 0.4])
            upper[hidden] = UNBOUNDED if kind == 2 else upper[hidden] + rng.integers(0, 4) * size
            lower[hidden] = 0
        if rng.random() < 0.03:
            upper = np.maximum(upper - 1, 0)
            lower = np.minimum(lower, upper)
        margins.append(CountMargin(tuple(groups), lower, upper))
    return CountConstraints(shape, tuple(margins))


def compare_counts(seed):
    """Assert equal bounds of a release; tell whether there was a table."""
    known = random_release(np.random.default_rng(seed))
    try:
        before = bounds_of_counts.integer_bounds(known, max_programs=3_000)
    except NoNumbersError:
        with pytest.raises(NoNumbersError):
            integer_bounds(known, max_programs=3_000)
        return False
    after = integer_bounds(known, max_programs=3_000)
    for old, new in (
        (before.tight_lower, after.tight_lower), (before.tight_upper, after.tight_upper),
        (before.lower, after.lower), (before.upper, after.upper),
    ):  # fmt: skip
        assert np.array_equal(old, new.reshape(-1)), seed
    assert (before.table is None) == (after.table is None)
    if after.table is not None:
        assert known.admits(after.table)
    return True


def compare_facts(seed):
    """Assert equal bounds of linked tables with subtotals, none of them less tight."""
    rng = np.random.default_rng(seed)
    whole = bool(rng.random() < 0.7)
    given = random_tables(
        rng, n_axes=int(rng.integers(1, 4)), most=int(rng.choice([1, 5, 40])),
        hide=float(rng.choice([0.3, 0.6])), whole=whole,
    )  # fmt: skip
    wanted = rng.permutation(given.hidden)[:60]
    before = bounds_of_facts.FactSearch(given.facts, wanted)
    before.run(max_seconds=60)
    after = FactSearch(given.facts, wanted)
    after.run(max_seconds=60)
    old, new = before.found(), after.found()
    for at, number in enumerate(wanted.tolist()):
        assert old.least[at] == new.least[at], (seed, number)
        assert old.most[at] == new.most[at], (seed, number)
        assert old.endless[at] <= new.endless[at], (seed, number)
        assert old.is_tight(at) <= new.is_tight(at), (seed, number)
        for is_upper in (False, True):
            proof = after.proof(number, is_upper=is_upper)
            if before.proof(number, is_upper=is_upper) is not None:
                assert proof is not None, (seed, number)


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_bounds_of_counts_are_those_of_the_older_search(start):
    assert sum(compare_counts(seed) for seed in range(start, start + 100)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 10_700, 970))
def test_bounds_of_many_counts_are_those_of_the_older_search(start):
    assert sum(compare_counts(seed) for seed in range(start, start + 970)) > 500


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_bounds_of_subtotals_are_those_of_the_older_search(start):
    for seed in range(start, start + 40):
        compare_facts(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 3_000, 400))
def test_bounds_of_many_subtotals_are_those_of_the_older_search(start):
    for seed in range(start, start + 400):
        compare_facts(seed)
