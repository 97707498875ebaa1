"""What is searched in blocks is the same for any blocks, and whoever searches them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from gamekeeper.algorithms.blocks import map_blocks
from gamekeeper.algorithms.uniques import search
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.prompt_syntax import Pool

SIZES = (4, 3, 5, 3, 2, 4, 3, 2)


def people(n_records=300):
    rng = np.random.default_rng(3)
    return np.stack([rng.integers(0, size, n_records) for size in SIZES], axis=1).astype(np.uint8)


def told(found):
    names = ("records", "counts", "masks", "by_size")
    return [
        [getattr(found, name).tolist() for name in names],
        [each.tolist() for each in found.by_category],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["search_by_tables", "search_by_transversals"])
@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_uniques_are_the_same_for_any_blocks(monkeypatch, way, missing):
    monkeypatch.setattr(
        "gamekeeper.algorithms.uniques.minimal_uniques.best_search",
        lambda *_: "tables" if way == "search_by_tables" else "transversals",
    )
    codes = people()
    expected = told(find_minimal_uniques(codes, missing=missing, workers=1))
    plain = search._searched
    for n_blocks in (1, 3, 17):
        monkeypatch.setattr(
            search,
            "_searched",
            lambda rows, task, kernel, block, n=n_blocks: plain(
                rows, task, kernel, -(-len(rows.targets) // n)
            ),
        )
        for workers in (1, 3):
            found = find_minimal_uniques(
                codes, missing=missing, blocks=partial(map_blocks, workers=workers)
            )
            assert told(found) == expected
    if (way, missing) == ("search_by_tables", "wildcard"):
        processes = partial(map_blocks, workers=2, pool=Pool.PROCESSES)
        found = find_minimal_uniques(codes, missing=missing, blocks=processes)
        assert told(found) == expected
