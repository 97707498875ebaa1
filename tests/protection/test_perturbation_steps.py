"""The classical methods as steps: what they change, what they keep, and what they do not depend on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gamekeeper import InputError
from gamekeeper.algorithms.perturbation.microaggregation import mdav_groups
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protection.numbers import (
    Beyond,
    Grouping,
    Microaggregate,
    Noise,
    RankSwap,
    TailCode,
)
from gamekeeper.protection.pram import Pram, Sample, decimals_of
from gamekeeper.protection.recipe import STEPS, read_step
from gamekeeper.protection.step import Setting
from tests.twins.swap_checks import check_swap

pa = pytest.importorskip("pyarrow")

CANARY = "8231947"
N = 240
SETTING = Setting(keys=("age", "job"), seed=7, identifier="id", weight="weight")
STEPS_TRIED = [
    TailCode(variable="age", top_share=0.05, bottom=20.0, at_least=3),
    TailCode(variable="income", top_share=0.1, beyond=Beyond.MEAN),
    TailCode(variable="age", top=80.0, beyond=Beyond.CATEGORY),
    Sample(fraction=0.4),
    Sample(fraction=0.4, within=("region",)),
    Pram(variables=("job", "region")),
    Pram(variables=("job",), exact_counts=True, within=("region",)),
    Pram(variables=("age",), within_categories=("age=width 10",), share=1.0),
    Microaggregate(variables=("income", "hours"), k=4),
    Microaggregate(variables=("age", "income"), k=3, grouping=Grouping.ONE_BY_ONE),
    Microaggregate(variables=("income",), k=3, within=("region",), weighted=True),
    Microaggregate(variables=("income", "hours"), k=4, grouping="variable size", gain=1.1),
    RankSwap(variables=("income", "age"), share=0.1),
    RankSwap(variables=("income", "hours"), share=0.5, most_moved=0.05),
    RankSwap(variables=("hours",), share=0.2, within=("region",)),
    Noise(variables=("income", "hours"), share=0.2),
    Noise(variables=("age",), share=0.5, keep_moments=False, keep_range=False),
]


def frame(order=None, *, homes=False):
    rng = np.random.default_rng(11)
    columns = {
        "id": [f"p{number:03d}" for number in range(N)],
        "age": [int(a) if a % 17 else None for a in rng.integers(16, 95, N)],
        "job": [
            str(j) for j in rng.choice(["a", "b", "c", "d", ""], N, p=[0.5, 0.3, 0.1, 0.05, 0.05])
        ],
        "region": [str(r) for r in rng.choice(["north", "south", "west"], N)],
        "income": [float(round(i, 2)) for i in rng.lognormal(7, 1, N)],
        "hours": [int(h) for h in rng.choice([0, 20, 35, 38, 40, 60], N)],
        "weight": [float(w) for w in rng.integers(1, 9, N)],
        "home": [f"h{n // 3}" for n in range(N)],
    }
    if homes:
        columns["region"] = [columns["region"][n // 3 * 3] for n in range(N)]
    table = pa.table(columns)
    return table if order is None else table.take(pa.array(order))


def coded(order=None, *, homes=False):
    return code_frame(
        frame(order, homes=homes),
        ["id", "age", "job", "region", "home"],
        numbers=["income", "hours", "weight"],
    )


def cells(table, name):
    """Return what the cells of a column say, by the identifier of the record."""
    ids = [table.codebook["id"].values[code] for code in table.codes("id")]
    if name in table.numbers:
        return dict(zip(ids, table.number(name).tolist(), strict=True))
    values = table.codebook[name].values
    return dict(zip(ids, [values[code] for code in table.codes(name)], strict=True))


@pytest.mark.parametrize("step", STEPS_TRIED, ids=lambda step: repr(step)[:70])
def test_the_order_of_records_and_workers_change_nothing(step):
    setting = Setting(keys=("age", "job"), seed=7, identifier="id", weight="weight", workers=1)
    plain = step.apply(coded(), setting, 2)
    order = np.random.default_rng(5).permutation(N)
    other = Setting(keys=("age", "job"), seed=7, identifier="id", weight="weight", workers=2)
    shuffled = step.apply(coded(order), other, 2)
    for name in ("age", "job", "region", "income", "hours", "weight"):
        assert cells(shuffled.table, name) == cells(plain.table, name), name
    assert shuffled.told == plain.told
    assert shuffled.found == plain.found


@pytest.mark.parametrize("step", STEPS_TRIED, ids=lambda step: repr(step)[:70])
def test_the_log_has_every_changed_cell_and_the_rest_is_as_it_was(step):
    before = coded()
    made = step.apply(before, SETTING)
    left = np.arange(N) if made.log.records is None else made.log.records
    assert made.table.n_records == len(left)
    for name in ("id", "age", "job", "region", "income", "hours", "weight"):
        change = made.log.variables.get(name)
        if change is not None and change.recode is not None:
            assert (
                change.recode.codes[before.codes(name)].tolist() == made.table.codes(name).tolist()
            )
            continue
        old, new = list(cells(before, name).values()), list(cells(made.table, name).values())
        differ = [old[place] != value for place, value in zip(left, new, strict=True)]
        if name in ("income", "hours", "age"):
            pairs = [(float(old[p] or -1), float(v or -1)) for p, v in zip(left, new, strict=True)]
            differ = [a != b for a, b in pairs]
        assert made.log.changed(name).tolist() == differ, name
    assert made.log.n_suppressed == 0
    again = step.apply(coded(), SETTING)
    assert again.table.fingerprint == made.table.fingerprint


@pytest.mark.parametrize("step", STEPS_TRIED, ids=lambda step: repr(step)[:70])
def test_a_step_survives_its_recipe(step):
    assert read_step(step.to_json()) == step
    assert STEPS[step.do] is type(step)
    made = step.apply(coded(), SETTING)
    for frozen in made.frozen:
        assert read_step(frozen.to_json()) == frozen
        assert frozen.apply(coded(), SETTING).table.fingerprint == made.table.fingerprint


def test_another_seed_or_place_draws_otherwise():
    step = Pram(variables=("job",))
    first = step.apply(coded(), SETTING).table.fingerprint
    assert step.apply(coded(), SETTING, 2).table.fingerprint != first
    other = Setting(keys=("age",), seed=8, identifier="id")
    assert step.apply(coded(), other).table.fingerprint != first


def test_pram_keeps_counts_blocks_and_missing_cells():
    before = coded()
    made = Pram(variables=("job",), exact_counts=True, share=1.0).apply(before, SETTING)
    assert (
        np.bincount(made.table.codes("job")).tolist() == np.bincount(before.codes("job")).tolist()
    )
    assert made.log.n_changed > 20
    assert ((before.codes("job") == 0) == (made.table.codes("job") == 0)).all()
    banded = Pram(variables=("age",), within_categories=("age=width 10",), share=1.0, keep=0.3)
    ages = banded.apply(before, SETTING)
    old, new = cells(before, "age"), cells(ages.table, "age")
    assert all(not old[i] or int(old[i]) // 10 == int(new[i]) // 10 for i in old)
    assert ages.log.n_changed > 20


def test_pram_moves_households_together_where_they_agree():
    setting = Setting(keys=("age",), seed=3, identifier="id", household="home")
    for exact in (False, True):
        made = Pram(variables=("region",), share=1.0, keep=0.4, exact_counts=exact).apply(
            coded(homes=True), setting
        )
        homes, regions = cells(made.table, "home"), cells(made.table, "region")
        assert len({(homes[i], regions[i]) for i in homes}) == N // 3
        assert made.log.n_changed > 10
    assert np.bincount(made.table.codes("region")).tolist() == (
        np.bincount(coded(homes=True).codes("region")).tolist()
    )


def test_microaggregation_is_that_of_the_algorithm_and_counts_who_is_left():
    before = coded()
    plain = Setting(keys=("age",))
    made = Microaggregate(variables=("income", "hours"), k=4, decimals=9).apply(before, plain)
    labels = mdav_groups(np.column_stack([before.number("income"), before.number("hours")]), 4)
    for group in range(labels.max() + 1):
        own = made.table.number("income")[labels == group]
        assert len(set(own.tolist())) == 1
        assert own[0] == pytest.approx(before.number("income")[labels == group].mean(), abs=1e-8)
    aged = Microaggregate(variables=("age",), k=3).apply(before, plain)
    n_missing = int((before.codes("age") == 0).sum())
    assert aged.found["left_as_they_are"] == n_missing > 0
    assert any("no group protects them" in sentence for sentence in aged.told)
    with pytest.raises(InputError, match=f"missing in {n_missing} records"):
        Microaggregate(variables=("age",), incomplete="refuse").apply(before, plain)
    counts = np.bincount(aged.table.codes("age"))[1:]
    assert counts[counts > 0].min() >= 3


def test_weighted_means_keep_weighted_totals():
    setting = Setting(keys=("age",), weight="weight")
    before = coded()
    made = Microaggregate(variables=("income",), weighted=True, decimals=12).apply(before, setting)
    weights = before.number("weight")
    assert (made.table.number("income") * weights).sum() == pytest.approx(
        (before.number("income") * weights).sum()
    )


def test_rank_swapping_keeps_values_and_ranks_near():
    before = coded()
    made = RankSwap(variables=("income",), share=0.1).apply(before, SETTING)
    found = check_swap(before.number("income"), made.table.number("income"), Fraction(1, 10))
    assert found.same_values
    assert found.within_limit
    assert found.unchanged < N / 4
    with pytest.raises(InputError, match="less than one rank"):
        RankSwap(variables=("income",), share=0.001).apply(before, SETTING)


def test_rank_swapping_moves_correlations_no_further_than_asked():
    rng = np.random.default_rng(2)
    x = rng.normal(100, 10, 400).round(3)
    table = code_frame(
        pa.table(
            {"s": ["a"] * 400, "x": x.tolist(), "y": (x + rng.normal(0, 4, 400)).round(3).tolist()}
        ),
        ["s"],
        numbers=["x", "y"],
    )
    setting = Setting(keys=("s",), seed=1)

    def moved(made):
        old, new = (np.corrcoef(t.number("x"), t.number("y"))[0, 1] for t in (table, made.table))
        return abs(new - old)

    free = RankSwap(variables=("x", "y"), share=0.5).apply(table, setting)
    held = RankSwap(variables=("x", "y"), share=0.5, most_moved=0.05).apply(table, setting)
    assert moved(free) > 0.05 >= moved(held)
    assert held.found["share"] < 0.5
    assert check_swap(
        table.number("x"), held.table.number("x"), Fraction(held.found["share"])
    ).within_limit
    with pytest.raises(InputError, match="however near"):
        RankSwap(variables=("x", "y"), share=0.5, most_moved=0.0).apply(table, setting)


def test_groups_of_variable_size_have_k_records_at_least():
    before = coded()
    made = Microaggregate(variables=("income", "hours"), k=5, grouping="variable size").apply(
        before, SETTING
    )
    pairs = np.column_stack([made.table.number("income"), made.table.number("hours")])
    assert np.unique(pairs, axis=0, return_counts=True)[1].min() >= 5
    assert made.found["groups"] <= N // 5


def test_noise_keeps_zeros_range_decimals_and_says_what_moved():
    before = coded()
    made = Noise(variables=("income", "hours"), share=0.3).apply(before, SETTING)
    hours, old = made.table.number("hours"), before.number("hours")
    assert ((old == 0) <= (hours == 0)).all()
    assert hours.min() >= old.min()
    assert hours.max() <= old.max()
    assert decimals_of(hours) == 0
    assert decimals_of(made.table.number("income")) == 2
    assert 0 < made.found["mean_moved"] < 0.2
    free = Noise(
        variables=("income",), share=0.3, keep_range=False, keep_zeros=False, decimals=9
    ).apply(before, SETTING)
    assert free.found["mean_moved"] < 1e-9
    assert free.found["variance_moved"] < 1e-6


def test_tails_have_so_many_alike_and_a_category_is_a_recode():
    before = coded()
    made = TailCode(variable="age", top_share=0.01, at_least=5).apply(before, SETTING)
    ages = [int(value) for value in cells(made.table, "age").values() if value]
    assert ages.count(max(ages)) >= 5
    open_ = TailCode(variable="age", top=80.0, bottom=20.0, beyond=Beyond.CATEGORY)
    words = open_.apply(before, SETTING).table.codebook["age"].words
    assert words[-1] == "80+"
    assert words[1] == "up to 20"
    with pytest.raises(InputError, match="would look alike"):
        TailCode(variable="age", top=93.0, at_least=50).apply(before, SETTING)
    with pytest.raises(InputError, match="no categories"):
        TailCode(variable="income", top=80.0, beyond=Beyond.CATEGORY).apply(before, SETTING)
    with pytest.raises(InputError, match="No limit"):
        TailCode(variable="age").apply(before, SETTING)
    with pytest.raises(InputError, match="same end"):
        TailCode(variable="age", top=3.0, top_share=0.1).apply(before, SETTING)


def test_samples_take_whole_households_and_weights_grow():
    setting = Setting(keys=("age",), weight="weight", household="home", identifier="id")
    before = coded()
    made = Sample(fraction=0.25).apply(before, setting)
    homes = list(cells(made.table, "home").values())
    assert len(set(homes)) == 20
    assert all(homes.count(home) == 3 for home in homes)
    old, new = cells(before, "weight"), cells(made.table, "weight")
    assert all(new[i] == 4 * old[i] for i in new)
    assert made.table.n_records == 60
    assert made.log.n_left == 60


@pytest.mark.parametrize(
    "step",
    [
        Microaggregate(variables=("name", "salary", "salary")),
        Microaggregate(variables=()),
        Microaggregate(variables=("income",), k=10_000),
        RankSwap(variables=("name",)),
        Noise(variables=("name",)),
        TailCode(variable="name", top=1.0),
        Pram(variables=("salary", "salary", "income")),
        Pram(variables=()),
        Pram(variables=("name",), within=("income",)),
        Pram(variables=("name",), within=("rare",)),
        Sample(fraction=0.5, within=("nothing",)),
    ],
    ids=repr,
)
def test_refusals_name_what_is_wrong_and_show_no_value(step):
    names = [f"x{n}" for n in range(19)] + [CANARY]
    table = code_frame(
        pa.table({"name": names, "income": [float(CANARY)] * 20, "rare": ["a"] * 19 + [CANARY]}),
        ["name", "rare"],
        numbers=["income"],
    )
    with pytest.raises(InputError) as refused:
        step.apply(table, Setting(keys=("name",)))
    told = str(refused.value) + repr(refused.value.problems)
    assert CANARY not in told
    assert refused.value.do or refused.value.problems


def test_weights_that_cannot_be_used_and_columns_without_numbers():
    table = code_frame(
        pa.table({"a": [1.0, None], "b": [None, 2.0], "w": [0.0, 0.0]}), [], numbers=["a", "b", "w"]
    )
    for step in (
        Microaggregate(variables=("a",), k=2, weighted=True),
        Noise(variables=("a",), weighted=True),
        TailCode(variable="a", top_share=0.1, weighted=True),
    ):
        for weight in ("", "w"):
            with pytest.raises(InputError, match="eights"):
                step.apply(table, Setting(keys=(), weight=weight))
    for moments in (True, False):
        with pytest.raises(InputError, match="No record has all"):
            Noise(variables=("a", "b"), keep_moments=moments).apply(table, Setting(keys=()))


def test_nothing_told_shows_a_value():
    before = code_frame(
        pa.table({"age": [*range(20, 60), int(CANARY)], "job": [*"ab" * 20, CANARY]}),
        ["age", "job"],
    )
    for step in (
        TailCode(variable="age", top_share=0.1),
        Microaggregate(variables=("age",)),
        RankSwap(variables=("age",), share=0.2),
        Noise(variables=("age",)),
        Pram(variables=("job", "age")),
        Sample(fraction=0.5),
    ):
        made = step.apply(before, Setting(keys=("age",)))
        assert CANARY not in repr((made, made.told, made.found, made.log, made.provenance))
