"""Zeros and small counts that say something of a whole row, against the rows taken one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gamekeeper.algorithms.releases.primary_rules import disclosing_counts, disclosing_zeros


def with_totals(inner):
    for axis in range(inner.ndim):
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
    return inner


@pytest.mark.parametrize("seed", range(30))
def test_cells_are_found_as_by_the_definition(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 4, int(rng.integers(1, 4))).tolist())
    counts = with_totals(rng.integers(0, 4, shape) * (rng.random(shape) < 0.7))
    about = [at for at in range(counts.ndim) if rng.random() < 0.5] or [0]
    totals = [n - 1 for n in counts.shape]
    k = int(rng.integers(1, 4))
    impossible = rng.random(counts.shape) < 0.1
    zeros = disclosing_zeros(counts, about, totals, impossible)
    few = disclosing_counts(counts, about, totals, k)
    for at in product(*map(range, counts.shape)):
        row = tuple(totals[axis] if axis in about else own for axis, own in enumerate(at))
        people, here = counts[row], counts[at]
        assert zeros[at] == (here == 0 and people > 0 and at != row and not impossible[at])
        # k of them leave nobody, and somebody is left of whom that is news.
        assert few[at] == (at != row and 0 < here <= k and people - here >= 1)
