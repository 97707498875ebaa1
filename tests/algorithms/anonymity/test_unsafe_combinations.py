"""Unsafe combinations against all cells of all tables."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity.unsafe_combinations import n_sets, unsafe_combinations

FILES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=9)
)


@given(FILES, st.lists(st.integers(2, 4), min_size=1, max_size=4), st.booleans())
def test_every_cell_of_every_table(records, thresholds, counts_missing):
    width = len(records[0])
    by_size = [0] * min(len(thresholds), width)
    by_variable = [[0] * len(by_size) for _ in range(width)]
    per_record = [0] * len(records)
    told: list[tuple[int, int | None]] = []
    for size in range(1, len(by_size) + 1):
        for chosen in combinations(range(width), size):
            keys = [tuple(record[i] for i in chosen) for record in records]
            kept = [counts_missing or all(key) for key in keys]
            counts = Counter(key for key, keep in zip(keys, kept, strict=True) if keep)
            unsafe = {key for key, n in counts.items() if n < thresholds[size - 1]}
            by_size[size - 1] += len(unsafe)
            for place in chosen:
                by_variable[place][size - 1] += len(unsafe)
            for number, key in enumerate(keys):
                per_record[number] += kept[number] and key in unsafe
    found = unsafe_combinations(
        np.array(records),
        thresholds,
        counts_missing=counts_missing,
        progress=lambda done, total: told.append((done, total)),
    )
    assert found.by_size.tolist() == by_size
    assert found.by_variable.tolist() == by_variable
    assert found.per_record.tolist() == per_record
    total = n_sets(width, len(thresholds))
    assert told == [(done, total) for done in range(1, total + 1)]


@given(FILES, st.data(), st.booleans())
def test_a_row_may_stand_for_several_records(records, data, counts_missing):
    each = data.draw(st.lists(st.integers(1, 3), min_size=len(records), max_size=len(records)))
    codes, counts = np.array(records), np.array(each)
    rows = unsafe_combinations(codes, [2, 3], counts=counts, counts_missing=counts_missing)
    repeated = np.repeat(codes, counts, axis=0)
    whole = unsafe_combinations(repeated, [2, 3], counts_missing=counts_missing)
    assert rows.by_size.tolist() == whole.by_size.tolist()
    assert rows.by_variable.tolist() == whole.by_variable.tolist()
    assert np.repeat(rows.per_record, counts).tolist() == whole.per_record.tolist()
