"""Files of few records with the categories that each value may be put into, as a search takes them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    bits_lost,
)


@st.composite
def files(draw, *, with_singles=True):
    """A file of few records with any categories, which need not form a tree."""
    n_variables = draw(st.integers(1, 3))
    n_values = [draw(st.integers(1, 4)) for _ in range(n_variables)]
    n_rows = draw(st.integers(1, 14))
    rows = [[draw(st.integers(0, n - 1)) for n in n_values] for _ in range(n_rows)]
    given_choices = []
    for n in n_values:
        sets = draw(st.sets(st.frozensets(st.integers(0, n - 1), min_size=1), max_size=5))
        singles = {frozenset({v}) for v in range(n)} if with_singles else set()
        whole = {frozenset(range(n))} if draw(st.booleans()) else set()
        listed = sorted(sorted(s) for s in {*sets, *singles, *whole})
        given_choices.append((n, [tuple(s) for s in listed] or [tuple(range(n))]))
    return rows, given_choices


def as_choices(rows, given_choices, least=1):
    codes = np.array(rows)
    return [
        Choice(
            n,
            tuple(categories),
            bits_lost(categories, np.bincount(codes[:, place], minlength=n)),
            least=least,
        )
        for place, (n, categories) in enumerate(given_choices)
    ]


def as_blocks(choices, chosen):
    return tuple(
        frozenset(frozenset(choice.categories[number]) for number in own)
        for choice, own in zip(choices, chosen, strict=True)
    )
