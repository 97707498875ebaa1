from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.protect.recoding.search import SearchRecoding, search_for_recoding
from gamekeeper.protect.recoding.verified import search_verified
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import NotReachableError

SETTING = Setting(keys=("a", "b"))


@pytest.fixture(scope="module")
def table():
    codes = np.random.default_rng(3).integers(1, [7, 4], (60, 2))
    return coded_from_codes(codes, ["a", "b"])


def classes(made):
    _, counts = np.unique(made.table.matrix(["a", "b"]), axis=0, return_counts=True)
    return counts


def test_the_answer_passed_the_real_attack_and_cheaper_ones_failed(table):
    failed = set()

    def passes(made):
        # No class size decides: the first four that come fail.
        codes = made.table.matrix().tobytes()
        if len(failed) < 4:
            failed.add(codes)
        return codes not in failed

    found = search_verified(table, SETTING, SearchRecoding(), passes, rungs=(2, 5, 10))
    assert found.is_met
    assert passes(found.protected)
    assert found.protected.found["status"] == "best verified"
    assert found.protected.found["gap"] is None
    passed = [each.loss for each in found.tried if each.passed]
    assert found.protected.found["loss"] == min(passed)
    assert any("not proven to be the least" in told for told in found.protected.told)
    cheaper = sum(not each.passed and each.loss < min(passed) for each in found.tried)
    assert cheaper > 0
    assert any(f"{cheaper:,} cheaper one" in told for told in found.protected.told)


def test_no_recoding_is_attacked_twice_and_none_above_the_limit(table):
    seen = []

    def passes(made):
        seen.append(made.table.matrix().tobytes())
        return False

    found = search_verified(
        table, SETTING, SearchRecoding(), passes, rungs=(2, 3, 5, 10), most_verified=7
    )
    assert not found.is_met
    assert len(seen) == len(set(seen)) == len(found.tried) <= 7
    assert found.protected.found["status"] == "not verified"
    assert "not proven" in found.protected.told[-1]


def test_the_first_that_passes_is_compared_with_cheaper_ones_of_smaller_k(table):
    exact = search_for_recoding(table, SETTING, SearchRecoding(k=6))
    found = search_verified(
        table, SETTING, SearchRecoding(), lambda made: classes(made).min() >= 6, rungs=(2, 20)
    )
    # What is verified is monotone here, so that the optimum is known.
    assert found.protected.found["loss"] == pytest.approx(exact.loss)
    assert found.step.k < 20


def test_the_step_that_is_kept_searches_again_and_the_frozen_one_does_the_same(table):
    found = search_verified(
        table, SETTING, SearchRecoding(), lambda made: classes(made).min() >= 4, rungs=(2, 4)
    )
    again = found.protected.frozen[0].apply(table, SETTING)
    assert np.array_equal(again.table.matrix(), found.protected.table.matrix())
    assert classes(found.step.apply(table, SETTING)).min() >= found.step.k


def test_where_nothing_can_be_chosen_what_blocks_it_is_told(table):
    asked = SearchRecoding(together=False, at_least={"a": 6, "b": 3})
    with pytest.raises(NotReachableError, match="stand in the way"):
        search_verified(table, SETTING, asked, lambda made: True, rungs=(50,))
