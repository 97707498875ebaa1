"""Links do not hang on the order of records or variables, and numbers are of the links that are left."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gamekeeper.algorithms.perturbation.microaggregation import group_means, mdav_groups
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.structure import link_structure

N = 240
NAMES = [f"v{k}" for k in range(8)]


def words(rng):
    """Draw people with mistyped names and wrong dates, some of them in both files."""
    letters = np.array(list("abcdefghijklmnop"))
    names = ["".join(rng.choice(letters, 7)) for _ in range(2 * N)]
    days = rng.integers(0, 9_000, 2 * N)
    births = (np.datetime64("1960-01-01") + days).astype(str).tolist()
    towns = rng.integers(0, 9, 2 * N)
    columns = {"name": names, "born": births, "town": [f"t{k}" for k in towns]}
    one = pa.table({name: values[:N] for name, values in columns.items()})
    columns["name"] = [n[:-1] + "z" if rng.random() < 0.3 else n for n in names]
    columns["town"] = [None if rng.random() < 0.2 else f"t{k}" for k in towns]
    return one, pa.table({name: values[90 : 90 + N] for name, values in columns.items()})


def firms(rng, *, mask):
    """Draw firms that are large in everything, and mask them."""
    values = np.exp(rng.normal(size=(N, 1)) + 0.7 * rng.normal(size=(N, len(NAMES))))
    return tuple(
        pa.table({name: rows[:, k] for k, name in enumerate(NAMES)})
        for rows in (mask(values), values)
    )


def noisy(values):
    rng = np.random.default_rng(8)
    return values + 0.25 * values.std(0) * rng.normal(size=values.shape)


def averaged(values):
    return group_means(values, np.asarray(mdav_groups(values, 3)))


FILES = {
    "words": (words, {}),
    "blocked": (words, {"block": ["town"]}),
    "window": (words, {"window": {"name": 5}}),
    "numbers": (lambda rng: firms(rng, mask=noisy), {}),
    "groups": (lambda rng: firms(rng, mask=averaged), {}),
    "everybody": (lambda rng: firms(rng, mask=noisy), {"everybody": True}),
    "sampled": (words, {"resamples": 2}),
}


def both_orders(kind):
    make, options = FILES[kind]
    one, two = make(np.random.default_rng(4))
    rng = np.random.default_rng(5)
    moved = rng.permutation(len(one)), rng.permutation(len(two))
    names = one.column_names
    found = link_files(one, two, names, **options)
    again = link_files(one.take(moved[0]), two.take(moved[1]), names[::-1], **options)
    return found, again, moved


@pytest.mark.parametrize("kind", [*FILES])
def test_the_order_of_records_and_variables_does_not_matter(kind):
    found, again, moved = both_orders(kind)
    assert found.n_linked > 5
    assert again.sentences()[0] == found.sentences()[0]
    assert again.summary() == pytest.approx(found.summary(), abs=1e-9)
    table, other = (one.to_arrow() for one in (found, again))
    order = np.argsort(other["cost"].to_numpy()), np.argsort(table["cost"].to_numpy())
    for name in {*table.column_names} - {"record", "linked_to"}:
        values = other[name].to_numpy()[order[0]], table[name].to_numpy()[order[1]]
        assert np.allclose(
            *(np.sort(one.astype(float)) for one in values), rtol=0, atol=1e-9, equal_nan=True
        )
    if kind == "groups":
        # Among the equal records of a group any may be linked.
        return
    columns = np.where(found.linked.columns >= 0, np.argsort(moved[1])[found.linked.columns], -1)
    assert again.linked.columns.tolist() == columns[moved[0]].tolist()


@pytest.mark.parametrize("kind", ["words", "blocked", "numbers", "groups"])
@pytest.mark.parametrize("method", ["optimal", "nearest"])
def test_numbers_are_of_the_links_that_are_left(kind, method):
    make, options = FILES[kind]
    one, two = make(np.random.default_rng(4))
    found = link_files(one, two, one.column_names, method=method, **options)
    linked, numbers = found.linked, found.summary()
    left = linked.columns >= 0
    assert 0 < np.count_nonzero(left) == numbers["links"] <= N
    assert numbers["total_cost"] == pytest.approx(np.nansum(linked.costs))
    # Fewer links cost less: nothing bounds what links cost where records may stay unlinked.
    assert "lower_bound" not in numbers
    assert linked.gap_to_bound is None
    for values in (linked.costs, linked.probabilities):
        assert (np.isnan(values) == ~left).all()


def test_resamples_do_not_link_records_that_are_left_unlinked():
    one, two = firms(np.random.default_rng(4), mask=noisy)
    found = link_files(one, two, NAMES, truth=np.arange(N), resamples=3)
    assert found.recall < 0.8
    # Leaving out records makes links a little easier, and no more.
    assert found.resampled.rates.max() < found.recall + 0.1


@pytest.mark.slow
def test_links_by_structure_do_not_hang_on_the_order_of_records():
    rng = np.random.default_rng(2)
    hidden = rng.normal(size=(24, 3))
    a, b = (hidden @ rng.normal(size=(3, n)) for n in (8, 9))
    p, q = rng.permutation(24), rng.permutation(24)
    found = link_structure(a, b, truth=np.arange(24), leave_out=True)
    again = link_structure(a[p], b[q], truth=np.argsort(q)[p], leave_out=True)
    assert again.summary() == pytest.approx(found.summary(), abs=1e-9)
    assert np.allclose(again.drops, found.drops)
    table, other = found.to_arrow().take(p), again.to_arrow()
    for name in {*table.column_names} - {"record", "group", "matched_group", "linked_to"}:
        assert table[name].to_pylist() == other[name].to_pylist()
    assert again.links.tolist() == np.argsort(q)[found.links][p].tolist()
    # Groups have other numbers and the same records, and point to the same.
    for one, its in (
        (found.groups_a, again.groups_a.classes),
        (found.groups_b, again.groups_b.classes),
    ):
        order = p if one is found.groups_a else q
        pairs = {*zip(one.classes[order].tolist(), its.tolist(), strict=True)}
        assert len(pairs) == len(one.sizes)
    pointed = [one.matching.groups[one.groups_a.classes] for one in (found, again)]
    members = [
        [sorted(np.flatnonzero(one.groups_b.classes == k).tolist()) for k in at.tolist()]
        for one, at in zip((found, again), pointed, strict=True)
    ]
    assert [sorted(q[k] for k in part) for part in members[1]] == [members[0][k] for k in p]


@pytest.mark.slow
def test_among_equal_records_links_are_as_chance_has_it():
    """Two files in the same order, two groups of three: two of six links are right on average."""
    table = pa.table({"sex": ["f", "m"] * 3})
    correct = [
        link_files(table, table, ["sex"], everybody=True, truth=np.arange(6), seed=seed).n_correct
        for seed in range(60)
    ]
    assert 1.4 < np.mean(correct) < 2.6
