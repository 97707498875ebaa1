"""Statements on most of a kind, against every table that agrees with a release."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gamekeeper.algorithms.bounds.group_attributions import find_group_attributions
from gamekeeper.attack.tables.attributions import infer_attributions
from gamekeeper.data.tables.release import Release

SHARE = Fraction(7, 10)


def released(rng):
    """A table with its margins, some inner cells hidden."""
    truth = rng.integers(0, 5, (2, 3))
    counts = [[None if rng.random() < 0.4 else int(c) for c in row] for row in truth]
    tables = [
        {"margin": ["a", "b"], "counts": counts},
        {"margin": ["a"], "counts": truth.sum(1).tolist()},
        {"margin": ["b"], "counts": truth.sum(0).tolist()},
    ]
    return Release.typed({"a": ["a0", "a1"], "b": ["b0", "b1", "b2"]}, tables), truth


def possible(release, truth):
    most = int(truth.sum(1).max())
    for cells in product(range(most + 1), repeat=truth.size):
        table = np.array(cells).reshape(truth.shape)
        if release.constraints.admits(table):
            yield table


# Four tell what ten tell, as a rule; all tables of each are listed.
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 10))]
)
def test_what_is_said_of_a_share_holds_in_every_table(seed):
    release, truth = released(np.random.default_rng(seed))
    found = infer_attributions(release, share=float(SHARE * 100), coalition=2)
    tables = list(possible(release, truth)) if truth.sum(1).max() <= 6 else [truth]
    for one in found.groups:
        for table in tables:
            moved = np.moveaxis(table, one.target, -1)
            own = moved[one.categories] if one.axes else moved.sum(axis=0)
            has, others = int(own[one.category]), int(own.sum() - own[one.category])
            assert one.least <= has
            assert others <= one.others
            if one.kind == "share":
                assert Fraction(has, has + others) >= one.share >= SHARE
            else:
                assert others <= 2


def test_an_exact_table_tells_every_share_there_is():
    counts = np.array([[19, 1], [5, 5]])

    def bounds(axes):
        others = tuple(axis for axis in range(2) if axis not in axes)
        return counts.sum(axis=others), counts.sum(axis=others)

    found = find_group_attributions(bounds, 2, share=Fraction(4, 5), coalition=1)
    told = {(one.kind, one.axes, one.categories, one.target, one.category) for one in found}
    assert told == {
        ("share", (0,), (0,), 1, 0), ("coalition", (0,), (0,), 1, 0), ("share", (), (), 1, 0),
        ("share", (1,), (1,), 0, 1), ("coalition", (1,), (1,), 0, 1),
    }  # fmt: skip


def test_sensitive_categories_come_first_and_structural_zeros_are_no_news():
    release = Release.typed(
        {"age": ["0-14", "15+"], "work": ["yes", "no"], "ill": ["yes", "no"]},
        [{"margin": ["age", "work", "ill"], "counts": [[[0, 0], [9, 4]], [[0, 7], [3, 5]]]}],
    )
    plain = infer_attributions(release)
    assert plain.words(plain.statements[0]) == "Everyone with age 0-14 has work no (13 people)."
    known = infer_attributions(release, structural=[{"age": "0-14", "work": "yes"}])
    assert known.n_no_news > 0
    assert plain.words(plain.statements[0]) not in map(known.words, known.statements)
    assert len(known.statements) + known.n_no_news == len(plain.statements)
    first = infer_attributions(release, sensitive={"ill": ["no"]})
    assert (first.statements[0].target, first.statements[0].category) == (2, 1)
