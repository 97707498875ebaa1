from __future__ import annotations

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest

from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import InputError
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection.recipe import read_step
from gamekeeper.protection.recoding.options import Loss, Recoding
from gamekeeper.protection.recoding.search import SearchRecoding, search_for_recoding
from gamekeeper.protection.recoding.together import RecodeAndSuppress, search_verified
from gamekeeper.protection.step import NotReachableError, Setting
from gamekeeper.protection.suppression import Suppress
from tests.given.people_to_recode import SETTING, people

FEW = Setting(keys=("Sex", "Status", "Region"))


def costs(made, prices):
    """What cells cost, counted from the log."""
    return sum(prices[name] * made.log.variables[name].n_suppressed for name in made.log.variables)


def test_nothing_cheaper_is_found_by_either_alone():
    table = people(400)
    both = RecodeAndSuppress(k=3, criterion="released_to_people").apply(table, FEW)
    assert both.found["status"] == "optimal"
    assert both.found["cost"] == pytest.approx(both.found["loss"] + both.found["cells_cost"])
    assert both.found["cells_cost"] == pytest.approx(costs(both, both.found["cell_prices"]))
    recoded = SearchRecoding(k=3).apply(table, FEW)
    assert both.found["cost"] <= recoded.found["loss"] + 1e-6
    stars = Suppress(k=3, criterion="released_to_people", costs=both.found["cell_prices"]).apply(
        table, FEW
    )
    assert both.found["cost"] <= costs(stars, both.found["cell_prices"]) + 1e-6


def test_it_is_the_cheapest_of_all_recodings_with_their_suppression():
    table = people(60)
    setting = Setting(keys=("Sex", "Status"))
    ways = ("Status=widowed | divorced", "Status=single | widowed | divorced", "Sex=together")
    step = RecodeAndSuppress(
        k=3, criterion="released_to_people", ways=ways, together=False, keep=(), cell_price=0.5
    )
    made = step.apply(table, setting)
    prices = made.found["cell_prices"]
    totals = []
    for sex in ((), ("Sex=together",)):
        for status in ((), *((way,) for way in ways[:2])):
            fixed = RecodeAndSuppress(
                k=3, criterion="released_to_people", ways=(*sex, *status), whole_levels=True,
                together=False, cell_price=0.5,
            ).apply(table, setting)  # fmt: skip
            totals.append(fixed.found["cost"])
            assert fixed.found["cell_prices"] == prices
    assert made.found["cost"] == pytest.approx(min(totals))
    assert made.found["status"] == "optimal"


def test_a_factor_is_of_the_variable_however_it_is_typed():
    table = people(60)
    made = [
        RecodeAndSuppress(k=2, criterion="released_to_people", factors={name: 3.0}).apply(
            table, FEW
        )
        for name in ("Region", "region")
    ]
    plain = RecodeAndSuppress(k=2, criterion="released_to_people").apply(table, FEW)
    assert made[0].found["cell_prices"] == made[1].found["cell_prices"]
    assert made[0].found["cell_prices"] != plain.found["cell_prices"]


def test_other_criteria_are_met_with_a_gap_that_is_told():
    table = people(200)
    made = RecodeAndSuppress(k=3, criterion="own", seconds=2.0).apply(table, FEW)
    _, counts = np.unique(made.table.matrix(list(FEW.keys)), axis=0, return_counts=True)
    assert counts.min() >= 3
    assert made.found["lower_bound"] <= made.found["cost"] + 1e-9
    if made.found["status"] != "optimal":
        assert "at least" in made.told[1]


def test_the_frozen_steps_do_the_same():
    table = people(200)
    step = RecodeAndSuppress(k=3, seconds=2.0, costs={"Sex": 4.0}, pinned=("Region",))
    made = step.apply(table, FEW)
    assert read_step(json.loads(json.dumps(step.to_json()))) == step
    again = table
    for frozen in made.frozen:
        again = read_step(json.loads(json.dumps(frozen.to_json()))).apply(again, FEW).table
    assert np.array_equal(again.matrix(), made.table.matrix())
    assert made.log.n_suppressed == made.found["cells"]
    assert "Region" not in {n for n, c in made.log.variables.items() if c.n_suppressed}


def test_a_dear_cell_makes_categories_coarser():
    table = people(300)
    cheap = RecodeAndSuppress(k=3, criterion="released_to_people", cell_price=0.1).apply(table, FEW)
    dear = RecodeAndSuppress(k=3, criterion="released_to_people", cell_price=50.0).apply(table, FEW)
    assert dear.found["cells"] <= cheap.found["cells"]
    assert dear.found["loss"] >= cheap.found["loss"]


def test_shares_have_prices_in_shares():
    made = RecodeAndSuppress(k=3, loss=Loss.SHARE, criterion="released_to_people").apply(
        people(200), FEW
    )
    assert 0 <= made.found["cost"] <= 1.0


def test_the_same_wishes_are_refused_as_of_a_search():
    with pytest.raises(InputError):
        RecodeAndSuppress(keep=("Nothing: 1",)).apply(people(), SETTING)
    with pytest.raises(InputError):
        RecodeAndSuppress(cell_price=0.0).apply(people(), SETTING)


def test_limits_of_a_recoding_alone_are_refused_and_not_passed_over():
    with pytest.raises(InputError) as caught:
        RecodeAndSuppress(most_share=0.1, most_is=3).apply(people(), SETTING)
    assert len(caught.value.problems) == 2


@pytest.mark.slow
@pytest.mark.parametrize("missing", list(Missing)[:3], ids=lambda missing: missing.value)
@pytest.mark.parametrize("seed", range(3))
def test_missing_cells_cost_nothing_and_the_cheapest_is_found_all_the_same(missing, seed):
    codes = np.random.default_rng(seed).integers(0, [5, 3, 3], (24, 3))
    table = coded_from_codes(codes, ["a", "b", "c"])
    setting = Setting(keys=("a", "b", "c"), missing=missing)
    options = {"k": 3, "criterion": "released_to_people", "cell_price": 1.5, "together": False}
    ways = ("a=1 | 2", "a=3 | 4", "b=1 | 2")
    made = RecodeAndSuppress(ways=ways, **options).apply(table, setting)
    assert made.found["status"] == "optimal"
    prices = made.found["cell_prices"]
    totals = []
    for rules in chosen_rules(("a=1 | 2; 3 | 4", "a=1 | 2", "a=3 | 4"), ("b=1 | 2",)):
        recoded = Recoding(rules=rules).apply(table, setting).table
        stars = Suppress(k=3, criterion="released_to_people", costs=prices).apply(recoded, setting)
        totals.append(loss_of(table, recoded) + stars.found["cost"])
    assert made.found["cost"] == pytest.approx(min(totals), rel=1e-6)


def chosen_rules(*of_variables):
    return [
        tuple(rule for rule in chosen if rule)
        for chosen in product(*((*r, "") for r in of_variables))
    ]


def loss_of(before, after):
    """Bits that known values lose, by their definition."""
    total = 0.0
    for name in before.codebook.names:
        pairs = [p for p in zip(before.codes(name), after.codes(name), strict=True) if p[0]]
        values, groups = Counter(v for v, _ in pairs), Counter(g for _, g in pairs)
        total += sum(np.log2(groups[g] / values[v]) for v, g in pairs)
    return total


def test_what_suppression_refuses_is_refused_before_the_search():
    table = people(60)
    step = RecodeAndSuppress(k=3, pinned=("Sex",), costs={"Sex": 2.0, "Status": 0.0})
    with pytest.raises(InputError, match="not above 0"):
        step.apply(table, FEW)
    with pytest.raises(InputError, match="left out would be released"):
        RecodeAndSuppress(k=3).apply(table, Setting(keys=FEW.keys, missing=Missing.EXCLUDE))


TWO_KEYS = Setting(keys=("a", "b"))


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

    found = search_verified(table, TWO_KEYS, SearchRecoding(), passes, rungs=(2, 5, 10))
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
        table, TWO_KEYS, SearchRecoding(), passes, rungs=(2, 3, 5, 10), most_verified=7
    )
    assert not found.is_met
    assert len(seen) == len(set(seen)) == len(found.tried) <= 7
    assert found.protected.found["status"] == "not verified"
    assert "not proven" in found.protected.told[-1]


def test_the_first_that_passes_is_compared_with_cheaper_ones_of_smaller_k(table):
    exact = search_for_recoding(table, TWO_KEYS, SearchRecoding(k=6))
    found = search_verified(
        table,
        TWO_KEYS,
        SearchRecoding(),
        lambda made: classes(made).min() >= 6,
        rungs=(2, 20),
    )
    # What is verified is monotone here, so that the optimum is known.
    assert found.protected.found["loss"] == pytest.approx(exact.loss)
    assert found.step.k < 20


def test_the_step_that_is_kept_searches_again_and_the_frozen_one_does_the_same(table):
    found = search_verified(
        table,
        TWO_KEYS,
        SearchRecoding(),
        lambda made: classes(made).min() >= 4,
        rungs=(2, 4),
    )
    again = found.protected.frozen[0].apply(table, TWO_KEYS)
    assert np.array_equal(again.table.matrix(), found.protected.table.matrix())
    assert classes(found.step.apply(table, TWO_KEYS)).min() >= found.step.k


def test_where_nothing_can_be_chosen_what_blocks_it_is_told(table):
    asked = SearchRecoding(together=False, at_least={"a": 6, "b": 3})
    with pytest.raises(NotReachableError, match="stand in the way"):
        search_verified(table, TWO_KEYS, asked, lambda made: True, rungs=(50,))
