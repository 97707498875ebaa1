"""What a search and a suppression may take, and what they say where time or memory is short."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.suppression.both import suppress_released_to_people
from gamekeeper.algorithms.suppression.problem import SuppressionProblem, n_sets_below, sets_by_cost
from gamekeeper.budget import within_memory
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import LimitError
from gamekeeper.protection.recoding.search import SearchRecoding, search_for_recoding
from gamekeeper.protection.recoding.together import RecodeAndSuppress
from gamekeeper.protection.step import Setting
from gamekeeper.protection.suppression import Suppress

KEYS = ("a", "b", "c", "d")
SETTING = Setting(keys=KEYS)


def table(n=400, seed=1):
    codes = np.random.default_rng(seed).integers(1, [40, 9, 9, 9], (n, 4))
    return coded_from_codes(codes, KEYS)


@pytest.mark.parametrize(
    "step",
    [Suppress(k=3), SearchRecoding(k=3), RecodeAndSuppress(k=3, seconds=1.0)],
    ids=lambda step: step.do,
)
def test_memory_is_asked_for_before_the_work(step):
    with within_memory("100KB"), pytest.raises(LimitError, match="would take about"):
        step.apply(table(), SETTING)


@pytest.mark.parametrize("options", [{}, {"most_share": 0.1}], ids=["all", "but for some"])
def test_a_wide_gap_is_explained(options):
    ways = tuple(f"a=neighbours {n}" for n in (2, 3, 4, 7, 9))
    found = search_for_recoding(
        table(), SETTING, SearchRecoding(k=5, ways=ways, seconds=0.0, **options)
    )
    assert found.status == "best so far"
    assert found.found.gap > 0.1
    assert "The gap is wide" in found.sentences()[-1]
    assert ("some records may be in small classes" in found.sentences()[-1]) == bool(options)


def test_together_a_wide_gap_is_explained():
    ways = tuple(f"{name}=neighbours {n}" for name in KEYS for n in (2, 3, 5))
    step = RecodeAndSuppress(
        k=5, ways=ways, cell_price=20.0, seconds=0.0, criterion="released_to_people"
    )
    made = step.apply(table(150), SETTING)
    assert made.found["status"] == "best so far"
    assert made.found["gap"] > 0.1
    assert any("The gap is wide" in told for told in made.told)
    assert any("before the time was up" in told for told in made.told)


def test_a_walk_that_is_too_long_is_refused_before_it_begins():
    codes = np.random.default_rng(0).integers(1, 9, (2000, 28)).astype(np.uint16)
    tried = []
    problem = SuppressionProblem(codes, 3, progress=lambda done, of: tried.append(done))
    with pytest.raises(LimitError, match=r"At least [\d,]+ sets of variables"):
        suppress_released_to_people(problem)
    assert not tried


def test_what_would_be_tried_at_least_is_not_overestimated():
    # Sets that cost less than the cheapest answer of the hardest row are tried in vain.
    codes = np.random.default_rng(3).integers(1, 3, (40, 17)).astype(np.uint16)
    found = suppress_released_to_people(SuppressionProblem(codes, 2))
    hardest = int(np.bitwise_count(found.suppressed).max())
    needed = n_sets_below([1] * 17, hardest)
    # A limit that is just enough for them is not refused before the work.
    limit = (needed + 64) * 40 * 2
    again = suppress_released_to_people(SuppressionProblem(codes, 2, max_work=max(limit, 1 << 24)))
    assert again.cost == found.cost


def test_sets_are_counted_as_they_come():
    costs = [3, 1, 2, 2]
    for limit in range(10):
        listed = sum(
            len(sets) for cost, sets in sets_by_cost(range(4), costs, [2] * 4) if cost < limit
        )
        assert n_sets_below(costs, limit) == listed


def test_the_order_of_records_and_the_number_of_workers_do_not_matter():
    one = table(120)
    order = np.random.default_rng(5).permutation(120)
    other = coded_from_codes(one.matrix(list(KEYS))[order], KEYS)
    # Little to choose from, so that the search ends before its time.
    options = {"variables": ("a",), "ways": ("a=neighbours 4",), "seconds": 120.0}
    step = RecodeAndSuppress(k=3, criterion="both", cell_price=2.0, **options)
    made = [
        step.apply(each, Setting(keys=KEYS, workers=workers))
        for each, workers in ((one, 1), (other, 2))
    ]
    assert made[0].found["is_searched"]
    assert made[0].frozen == made[1].frozen
    # Variables that may not be recoded tell something too, and can lose it by cells.
    assert 0 < made[0].found["share_lost"] < 1
    for name in ("cost", "lower_bound", "cells", "categories", "status"):
        assert made[0].found[name] == made[1].found[name]
    rows = [sorted(map(tuple, each.table.matrix(list(KEYS)).tolist())) for each in made]
    assert rows[0] == rows[1]
