"""Releases for tests of the shuttle: drawn at random around a true table, and the known hard one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin

SHAPES = [(4,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3), (2, 2, 2, 2)]


@st.composite
def releases(draw, shapes=tuple(SHAPES), most=4):
    """Draw what is published of a table, exact, perturbed, suppressed or recoded; and the table."""
    shape = draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, most), min_size=size, max_size=size))
    truth = np.array(counts, np.int64).reshape(shape)
    margins = []
    for _ in range(draw(st.integers(1, 5))):
        groups = []
        for length in shape:
            way = draw(st.sampled_from(["kept", "kept", "summed", "recoded"]))
            if way == "kept":
                groups.append(np.arange(length))
            elif way == "summed":
                groups.append(np.zeros(length, np.int64))
            else:
                merged = draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))
                groups.append(np.unique(merged, return_inverse=True)[1].astype(np.int64))
        empty = np.zeros([int(of_axis.max()) + 1 for of_axis in groups], np.int64)
        sums = CountMargin(tuple(groups), empty, empty).sums(truth)
        # Every cell published in full would leave nothing to infer.
        spread = draw(st.sampled_from([0, 0, 1, 2])) + (sums.size == size)
        lower, upper = np.maximum(sums - spread, 0), sums + spread
        if draw(st.integers(0, 3)) == 0:
            hidden = np.array(
                draw(st.lists(st.booleans(), min_size=sums.size, max_size=sums.size))
            ).reshape(sums.shape)
            lower, upper = np.where(hidden, 0, lower), np.where(hidden, UNBOUNDED, upper)
        margins.append(CountMargin(tuple(groups), lower, upper))
    return CountConstraints(shape, tuple(margins)), truth


def not_tight():
    """Return the six exact 2-way margins of a 2 x 2 x 2 x 2 table that the fixed point misses."""
    published = [
        [[5, 1], [1, 2]], [[3, 3], [1, 2]], [[4, 2], [1, 2]],
        [[3, 3], [1, 2]], [[4, 2], [1, 2]], [[3, 1], [2, 3]],
    ]  # fmt: skip
    return CountConstraints.of((2,) * 4, zip(combinations(range(4), 2), published, strict=True))
