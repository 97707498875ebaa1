"""Links to groups of equal records, as microaggregation makes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from gamekeeper.algorithms.perturbation.microaggregation import group_means, mdav_groups
from gamekeeper.attack.linkage.files import link_files

NAMES = [f"v{k}" for k in range(8)]


def firms(n_both, *, n_each=240, size=3, masked_first=True, seed=0, part=False, **options):
    """Firms that are large in everything; of two files, one has means of groups."""
    rng = np.random.default_rng(seed)
    n_all = 2 * n_each - n_both
    values = np.exp(rng.normal(size=(n_all, 1)) + 0.7 * rng.normal(size=(n_all, len(NAMES))))
    ours = values if part else values[:n_each]
    masked = group_means(ours, np.asarray(mdav_groups(ours, size)))[:n_each]
    others = rng.permutation(np.r_[:n_both, n_each:n_all])
    truth = np.full(n_each, -1)
    truth[others[others < n_each]] = np.flatnonzero(others < n_each)
    back = np.where(others < n_each, others, -1)
    one, two = (
        pa.table({name: rows[:, k] for k, name in enumerate(NAMES)})
        for rows in (masked, values[others])
    )
    if masked_first:
        return link_files(one, two, NAMES, truth=truth, **options), masked, truth
    return link_files(two, one, NAMES, truth=back, **options), masked, back


@pytest.mark.parametrize("masked_first", [True, False])
def test_records_are_linked_to_their_group(masked_first):
    found, masked, truth = firms(240, masked_first=masked_first)
    groups, linked = found.groups, found.linked
    assert groups is not None
    assert groups.n_groups == 80
    assert found.n_linked == groups.n_links > 100
    # Whether a group is right, slowly: the values of the one linked to are those of the right one.
    slow = [
        j >= 0
        and t >= 0
        and (
            (masked[j] == masked[t]).all()
            if not masked_first
            else (masked[i] == masked[truth.tolist().index(j)]).all()
        )
        for i, (j, t) in enumerate(zip(linked.columns, truth, strict=True))
    ]
    assert groups.is_right.tolist() == slow
    assert sum(slow) > 0.9 * found.n_linked
    kept = linked.columns >= 0
    assert (groups.probabilities[kept] >= 0.5).all()
    assert np.allclose(linked.probabilities[kept], groups.probabilities[kept] / 3)
    assert 0 < found.partners.overlap.low <= 240
    numbers = found.summary()
    assert numbers["in_right_group"] == sum(slow)
    assert numbers["group_precision"] == sum(slow) / found.n_linked
    table = found.to_arrow()
    assert table["group_size"].drop_null().unique().to_pylist() == [3]
    assert table["in_right_group"].to_pylist() == slow
    said = " ".join(found.sentences())
    assert "come in 80 groups of equal ones, as microaggregation makes them" in said
    assert "to the right group" in said


def test_what_is_expected_is_no_more_than_guessing_within_groups():
    found, *_ = firms(240)
    low, high = found.partners.precision(found.linked.probabilities)
    assert 0 < low <= high <= 1 / 3 + 1e-9
    unknown = replace(
        found, truth=None, by_chance=None, groups=replace(found.groups, is_right=None)
    )
    said = " ".join(unknown.sentences())
    assert "expected to be to the right group, and of these one in 3 to the right record" in said
    assert "group_precision" not in unknown.summary()
    assert "in_right_group" not in unknown.to_arrow().column_names


@pytest.mark.slow
@pytest.mark.parametrize("masked_first", [True, False])
def test_where_nobody_is_in_both_nobody_is_linked(masked_first):
    for seed in range(2):
        found, *_ = firms(0, masked_first=masked_first, seed=seed)
        assert found.n_linked == 0
        assert found.partners.overlap.low == 0
        assert "right group" not in " ".join(found.sentences())


def test_groups_that_have_lost_members_prove_nothing():
    # Masked with those who are not there: their values are in the groups all the same.
    found, *_ = firms(0, part=True)
    assert found.groups is None
    assert found.n_linked == 0
    assert found.partners.overlap.low == 0
    assert any("not in whole groups" in note for note in found.notes)


def test_both_files_with_equal_records_are_not_taken_for_groups():
    rng = np.random.default_rng(1)
    a, b = (pa.table({name: rng.integers(3, size=90) * 1.0 for name in NAMES[:3]}) for _ in "ab")
    assert link_files(a, b, NAMES[:3]).groups is None
