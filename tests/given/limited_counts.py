"""Counts of a few cells with limits around each and perhaps a total, and what subtraction may find."""

from __future__ import annotations

from hypothesis import strategies as st

from gamekeeper.algorithms.subtraction.probability import (
    recovery_rule,
)


@st.composite
def releases(draw, *, most=3, with_total=None):
    n_cells = draw(st.integers(1, 4))
    counts = draw(st.lists(st.integers(0, most), min_size=n_cells, max_size=n_cells))
    below = draw(st.lists(st.integers(0, 1), min_size=n_cells, max_size=n_cells))
    above = draw(st.lists(st.integers(0, 1), min_size=n_cells, max_size=n_cells))
    lower = [max(0, c - b) for c, b in zip(counts, below, strict=True)]
    upper = [c + a for c, a in zip(counts, above, strict=True)]
    total = None
    if with_total or (with_total is None and draw(st.booleans())):
        # Most totals at their upper limit: that is where they tell something.
        total = sum(counts) + draw(st.sampled_from([0, 0, 0, 1]))
    return counts, lower, upper, total


def rule_of(release):
    counts, lower, upper, total = release
    return recovery_rule(counts, upper, lower=lower, total_upper=total)
