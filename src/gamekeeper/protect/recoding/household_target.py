"""Households in a search for a recoding: each counts as one, by what its members have in common.

A recoding acts on the whole file, so that members who have a value in common keep it in common. But
a class of k records can be one household. So besides records, households are counted: as many as k
must look alike in the variables that members have in common. Classes of households only merge where
categories do, so that this is searched exactly as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.class_tables import Labels
from gamekeeper.algorithms.recoding_search.targets import MonotoneAttack, SmallClasses
from gamekeeper.protect.suppression.households import Households


def household_target(
    homes: Households,
    columns: Sequence[int],
    codes: NDArray[np.int64],
    kept: NDArray[np.bool_],
    weights: NDArray[np.int64] | None,
    persons: SmallClasses,
) -> MonotoneAttack:
    """Return that k households look alike in what their members have in common.

    Parameters
    ----------
    columns
        The columns of the codes that households are compared on.
    codes, kept
        The records, and which of them can be matched.
    weights
        The weights of those that are kept, where classes are counted by them: a household has that of
        its first member.
    persons
        What is asked of records. Members of households in small classes may be as many.
    """
    places = np.flatnonzero(kept)
    _, first, sizes = np.unique(homes.home_of[places], return_index=True, return_counts=True)
    counts = np.ones(len(first), dtype=np.int64) if weights is None else weights[first]
    rows = codes[places[first]][:, list(columns)]
    return MonotoneAttack(
        partial(_in_small_classes, rows, list(columns), sizes, counts, persons.k), persons.most
    )


def _in_small_classes(
    rows: NDArray[np.int64],
    columns: Sequence[int],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    k: int,
    labels: Labels,
) -> float:
    """Return how many people live in households of which fewer than k look alike."""
    shown = np.column_stack([labels[c][rows[:, at]] for at, c in enumerate(columns)])
    _, number = np.unique(shown, axis=0, return_inverse=True)
    number = number.reshape(-1)
    alike = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(alike, number, counts)
    return float(sizes[alike[number] < k].sum())
