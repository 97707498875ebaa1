"""Slow and obvious twins: all tables of a release by trying every table within a box."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import factorial

import numpy as np
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints

__all__ = ["admitted", "posterior_by_hand", "releases", "tables_by_hand"]


def tables_by_hand(known, totals=range(19)):
    """Every table with one of the totals that satisfies the constraints, in ascending order."""
    whole = [margin for margin in known.margins if margin.lower.size == 1]
    low = max((int(margin.lower.max()) for margin in whole), default=0)
    high = min((int(margin.upper.max()) for margin in whole), default=UNBOUNDED)
    tables = [
        table
        for total in totals
        if low <= total <= high
        for table in _summing_to(total, known.size)
    ]
    found = sorted(admitted(known, tables).tolist())
    return [np.array(table).reshape(known.shape).tolist() for table in found]


def admitted(known, tables):
    """Those of flat tables that satisfy the constraints, all of them added up at once."""
    tables = np.array(tables, np.int64).reshape(-1, known.size)
    fits = np.ones(len(tables), bool)
    for margin in known.margins:
        sums = tables @ (margin.cells[:, None] == np.arange(margin.lower.size))
        fits &= (sums >= margin.lower.reshape(-1)).all(axis=1)
        fits &= (sums <= margin.upper.reshape(-1)).all(axis=1)
    return tables[fits]


def _summing_to(total, n):
    """All n counts with a sum."""
    for bars in combinations(range(total + n - 1), n - 1):
        edges = (-1, *bars, total + n - 1)
        yield tuple(after - before - 1 for before, after in pairwise(edges))


def posterior_by_hand(known, likelihoods=(), means=None, totals=range(19)):
    """For each flat cell the exact probabilities of its counts, as fractions."""
    tables = tables_by_hand(known, totals)
    weights = []
    for table in tables:
        weight = Fraction(1)
        if means is not None:
            for count, mean in zip(np.ravel(table), np.ravel(means), strict=True):
                weight *= Fraction(mean) ** int(count) / factorial(int(count))
        for margin, entries in zip(known.margins, likelihoods, strict=False):
            for total, entry in zip(margin.sums(table).reshape(-1), entries or (), strict=False):
                if entry is not None:
                    at = int(total) - entry[0]
                    weight *= Fraction(entry[1][at]) if 0 <= at < len(entry[1]) else 0
        weights.append(weight)
    whole = sum(weights)
    cells = [{} for _ in range(known.size)]
    for table, weight in zip(tables, weights, strict=True):
        for cell, count in enumerate(np.ravel(table).tolist()):
            cells[cell][count] = cells[cell].get(count, 0) + weight / whole
    return cells


@st.composite
def releases(draw, hides=True):
    """A small table and margins of it, exact, within limits or with hidden sums."""
    shape = draw(st.sampled_from([(3,), (2, 2), (2, 3), (2, 2, 2)]))
    cell = st.integers(0, 1 if len(shape) == 3 else 2)
    truth = np.array(draw(st.lists(cell, min_size=8, max_size=8)))[: np.prod(shape)].reshape(shape)
    axes = range(len(shape))
    chosen = draw(st.lists(st.sets(st.sampled_from(axes)), min_size=1, max_size=4))
    margins = []
    for kept in [*map(sorted, chosen), []]:
        others = tuple(axis for axis in axes if axis not in kept)
        sums = truth.sum(axis=others) if others else truth
        slack = draw(st.sampled_from([0, 0, 1, 2])) if kept else 0
        low, high = np.maximum(sums - slack, 0), np.array(sums + slack)
        if hides and kept and draw(st.booleans()):
            hidden = draw(st.integers(0, sums.size - 1))
            low.reshape(-1)[hidden], high.reshape(-1)[hidden] = 0, UNBOUNDED
        margins.append((kept, low, high))
    return CountConstraints.of(shape, margins)
