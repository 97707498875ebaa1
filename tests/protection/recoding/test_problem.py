from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.errors import InputError
from gamekeeper.protection.recoding.options import Recoding
from gamekeeper.protection.recoding.search import SearchRecoding, search_for_recoding
from gamekeeper.protection.recoding.together import RecodeAndSuppress
from gamekeeper.protection.step import Setting

KEYS = ("Tenure", "Region", "Sex")
SETTING = Setting(keys=KEYS, household="Home")


def households(seed=1, n=14):
    """Households of three to six; Tenure and Region are theirs, Sex is of a person."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 7, n)
    of_home = np.repeat(np.arange(n), sizes)
    frame = {
        "Tenure": [f"t{v}" for v in rng.integers(0, 3, n)[of_home]],
        "Region": [f"r{v}" for v in rng.integers(0, 3, n)[of_home]],
        "Sex": rng.choice(["f", "m"], len(of_home)).tolist(),
        "Home": [f"h{v}" for v in of_home],
    }
    return code_frame(pa.table(frame), [*KEYS, "Home"])


def smallest_of_homes(table):
    """How many households look like the one with fewest, in Tenure and Region."""
    seen = dict(
        zip(
            table.codes("Home").tolist(),
            map(tuple, table.matrix(["Tenure", "Region"]).tolist()),
            strict=True,
        )
    )
    return min(Counter(seen.values()).values())


def smallest_of_records(table):
    return min(Counter(map(tuple, table.matrix(list(KEYS)).tolist())).values())


def test_households_count_as_one():
    table = households()
    alone = SearchRecoding(k=3).apply(table, Setting(keys=KEYS))
    made = SearchRecoding(k=3).apply(table, SETTING)
    # Records alone are not enough: some class of households is smaller.
    assert smallest_of_records(alone.table) >= 3 > smallest_of_homes(alone.table)
    assert smallest_of_records(made.table) >= 3
    assert smallest_of_homes(made.table) >= 3
    assert made.found["loss"] > alone.found["loss"]
    assert "as many households look alike in 'Tenure' and 'Region'" in made.told[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_cheapest_of_all_recodings(seed):
    table = households(seed)
    ways = ("Tenure=t0 | t1", "Tenure=t1 | t2", "Region=r0 | r2")
    found = search_for_recoding(table, SETTING, SearchRecoding(k=2, ways=ways))
    losses = []
    each = {
        "Tenure": [None, "t0 | t1", "t1 | t2", "together"],
        "Region": [None, "r0 | r2", "together"],
        "Sex": [None, "together"],
    }
    for chosen in product(*each.values()):
        typed = [f"{name}={way}" for name, way in zip(each, chosen, strict=True) if way]
        made = Recoding(rules=tuple(typed)).apply(table, SETTING).table
        if smallest_of_records(made) >= 2 and smallest_of_homes(made) >= 2:
            losses.append(bits(table, made))
    assert found.is_met == bool(losses)
    assert found.loss == pytest.approx(min(losses))
    assert found.status == "optimal"


def bits(before, after):
    """The loss by its definition."""
    total = 0.0
    for name in KEYS:
        values, groups = before.codes(name).tolist(), after.codes(name).tolist()
        n_value, n_group = Counter(values), Counter(groups)
        total += sum(np.log2(n_group[g] / n_value[v]) for v, g in zip(values, groups, strict=True))
    return total


def test_variables_that_differ_within_a_household_are_refused_by_count():
    with pytest.raises(InputError, match="conflicting values") as caught:
        SearchRecoding(k=2, household_variables=("Sex",)).apply(households(), SETTING)
    assert "differs within" in str(caught.value)
    for value in ("h0", "h1"):
        assert value not in str(caught.value)


def test_household_variables_without_households_are_refused():
    with pytest.raises(InputError, match="Name the column"):
        SearchRecoding(k=2, household_variables=("Region",)).apply(households(), Setting(keys=KEYS))


def test_some_households_may_stay_in_small_classes():
    table = households()
    strict = SearchRecoding(k=3).apply(table, SETTING)
    loose = SearchRecoding(k=3, most_records=20).apply(table, SETTING)
    assert loose.found["loss"] < strict.found["loss"]
    seen = dict(
        zip(
            table.codes("Home").tolist(),
            map(tuple, loose.table.matrix(["Tenure", "Region"]).tolist()),
            strict=True,
        )
    )
    alike = Counter(seen.values())
    members = sum(alike[seen[home]] < 3 for home in table.codes("Home").tolist())
    assert members <= 20


def test_the_proof_of_a_search_with_households_holds_when_it_is_counted_again():
    table = households()
    found = search_for_recoding(table, SETTING, SearchRecoding(k=3))
    codes = {name: table.codes(name) for name in KEYS}
    homes = table.codes("Home").tolist()
    for cut in found.certificate():
        shown = {name: np.array(cut["partitions"][name])[codes[name]] for name in KEYS}
        rows = list(zip(*(shown[name].tolist() for name in KEYS), strict=True))
        pairs = dict(zip(homes, zip(shown["Tenure"], shown["Region"], strict=True), strict=True))
        smallest = min(Counter(rows).values()), min(Counter(pairs.values()).values())
        # Target 0 is of records, 1 of households.
        assert smallest[cut["target"]] < 3
    assert {cut["target"] for cut in found.certificate()} >= {1}


def test_recoding_and_suppression_together_know_households_too():
    table = households(2, 30)
    common = ("Tenure", "Region")
    step = RecodeAndSuppress(k=4, criterion="released_to_people", household_variables=common)
    made = step.apply(table, SETTING)
    assert made.log.n_suppressed
    homes = made.table.codes("Home")
    for home in np.unique(homes):
        assert len({*map(tuple, made.table.matrix(list(common))[homes == home].tolist())}) == 1
    assert made.frozen[1].household_variables == common
