"""Costs to assign rows to columns by: any small ones, and large ones that are hard each in its way."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

INF = np.inf


@st.composite
def cost_matrices(draw, most=6, forbidden=True):
    n_rows, n_columns = draw(st.integers(0, most)), draw(st.integers(0, most))
    values = draw(
        st.sampled_from(
            [
                st.integers(0, 2).map(float),
                st.integers(-9, 9).map(float),
                st.floats(0, 1),
                st.floats(-1e6, 1e6),
                *([st.sampled_from([0.0, 1.0, 2.5, INF, INF])] if forbidden else []),
            ]
        )
    )
    cells = draw(st.lists(values, min_size=n_rows * n_columns, max_size=n_rows * n_columns))
    return np.array(cells, float).reshape(n_rows, n_columns)


def costs_of_kind(kind, n, m, seed):
    rng = np.random.default_rng(seed)
    match kind:
        case "uniform":
            return rng.random((n, m))
        case "counts":
            return rng.integers(0, 4, (n, m)).astype(float)
        case "wide integers":
            return rng.integers(-1000, 1000, (n, m))
        case "points":
            a, b = rng.random((n, 2)), rng.random((m, 2))
            return np.hypot(*(a[:, None] - b[None]).transpose(2, 0, 1))
        case "products":
            return np.outer(np.arange(1.0, n + 1), np.arange(1.0, m + 1))
        case "alike":
            return np.ones((n, m))
        case "one factor":
            return rng.random((n, 1)) + rng.random((1, m))
        case "flat":
            return rng.random((n, 3)) @ rng.random((3, m))
        case _:
            return np.where(rng.random((n, m)) < 0.8, INF, rng.random((n, m)))
