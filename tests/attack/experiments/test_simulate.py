from __future__ import annotations

import json
import os
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.judging import mid_ranks, rank_groups
from gamekeeper.algorithms.uniques.dis import dis
from gamekeeper.attack.experiments.harness import draw_records
from gamekeeper.attack.experiments.simulate import (
    MEASURES,
    N_TENTHS,
    band_of_probability,
    pearson,
    simulate,
    spearman,
)
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason, StoreError

KEYS = ["area", "age", "sex"]
CANARY = "Zanzibar"


def people(n=300, seed=5):
    generator = np.random.default_rng(seed)
    return np.column_stack(
        [
            generator.integers(1, 5, n),
            generator.geometric(0.3, n).clip(1, 12),
            generator.integers(0, 3, n),
            np.sort(generator.integers(1, 90, n)),
        ]
    )


@pytest.fixture(scope="module")
def population():
    return coded_from_codes(people(), [*KEYS, "household"])


def mean_age(codes, f, n):
    return {"age": codes[:, 1].mean(), "inverse": (1 / n)[f == 1].mean(), "undefined": np.nan}


def failing(codes, f, n):
    raise ValueError(CANARY)


def ending(codes, f, n):
    os._exit(1)


def test_every_sample_is_measured_as_by_hand(population):
    found = simulate(
        population,
        KEYS,
        fractions=["10%", 0.25],
        samples=3,
        measures=["counts", "pr_pu", "pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su", "dis"],
        seed=7,
    )
    rows = [tuple(row) for row in people()[:, :3].tolist()]
    big = Counter(rows)
    for number in range(6):
        n = 30 if number < 3 else 75
        seeds = np.random.SeedSequence(7).spawn(6)[number]
        sample = Counter(rows[p] for p in draw_records(300, n, np.random.default_rng(seeds)))
        uniques = [key for key, f in sample.items() if f == 1]
        pairs = 2 * sum(f == 2 for f in sample.values())
        expected = {
            "sample_uniques": len(uniques),
            "sample_pairs": pairs,
            "pr_pu": sum(f == 1 for f in big.values()) / 300,
            "pr_pu_given_su": sum(big[key] == 1 for key in uniques) / len(uniques),
            "pr_cm_given_um": len(uniques) / sum(big[key] for key in uniques),
            "pr_cm_given_su": sum(1 / big[key] for key in uniques) / len(uniques),
            "dis": float(dis(len(uniques), pairs, Fraction(n, 300))),
        }
        assert found.measures == tuple(expected)
        assert found.values[number].tolist() == pytest.approx(list(expected.values()))
    assert found.fractions == (Fraction(1, 10),) * 3 + (Fraction(1, 4),) * 3
    assert found.n_population_uniques == sum(f == 1 for f in big.values())


def outcomes(population, measures, seed=3, **options):
    found = simulate(
        population,
        KEYS,
        fractions=["20%", "50%"],
        samples=3,
        measures=measures,
        seed=seed,
        **options,
    )
    return found.measures, found.values.tobytes()


@pytest.mark.slow
def test_the_outcome_is_the_same_for_any_number_of_workers(population):
    alone = outcomes(population, list(MEASURES))
    assert outcomes(population, list(MEASURES), workers=3, pool="threads") == alone
    assert outcomes(population, list(MEASURES), seed=4) != alone
    few = ["dis", "strategies", mean_age]
    assert outcomes(population, few, workers=2) == outcomes(population, few)


@pytest.mark.slow
def test_scores_are_the_same_in_processes(population):
    alone = outcomes(population, list(MEASURES))
    assert outcomes(population, list(MEASURES), workers=2) == alone


@pytest.mark.slow
def test_processes_that_are_late_say_nothing(population, capfd):
    # One process may do all the work while another still starts, and must then end in silence.
    for seed in range(3):
        outcomes(population, [mean_age], workers=2, seed=seed)
    assert capfd.readouterr().err == ""


def test_strata_and_key_tables(population):
    def areas(codes, f, n):
        return {f"area {code}": (codes[:, 0] == code).sum() for code in range(1, 5)}

    sizes = Counter(people()[:, 0].tolist())
    for strata in ("area", ["area", "household"]):
        found = simulate(
            population, KEYS, fractions="20%", samples=4, measures=[areas], stratify_by=strata
        )
        for code, size in sizes.items():
            allocated = found.column(f"areas.area {code}")
            assert (np.abs(allocated - size / 5) < 1).all()
    table = count_keys(population, KEYS)
    by_table = simulate(table, fractions="20%", seed=1)
    by_names = simulate(population, KEYS, fractions="20%", seed=1)
    assert np.array_equal(by_table.values, by_names.values)
    assert by_table.provenance.variant == "simple random"
    assert found.provenance.variant == "stratified, proportional allocation"
    left = simulate(population, KEYS, fractions=1, missing="exclude", measures=["pr_pu"])
    assert left.n_records == int((people()[:, 2] > 0).sum())


def test_measures_of_ones_own(population):
    found = simulate(population, KEYS, fractions="30%", samples=2, measures=[mean_age, "dis"])
    assert found.measures == (
        "dis", "mean_age.age", "mean_age.inverse", "mean_age.undefined",
    )  # fmt: skip
    seeds = np.random.SeedSequence(0).spawn(1)[0]
    drawn = draw_records(300, 90, np.random.default_rng(seeds))
    assert found.column("mean_age.age")[0] == people()[drawn, 1].mean()
    assert np.isnan(found.column("mean_age.undefined")).all()
    assert found.mean("mean_age.undefined").mean is None
    assert found.to_arrow().column("value").null_count == 2


def test_a_measure_that_fails_is_named_and_its_words_are_not_told(population):
    for options in ({}, {"workers": 2, "pool": "threads"}):
        with pytest.raises(InputError) as caught:
            simulate(population, KEYS, fractions="30%", samples=3, measures=[failing], **options)
        assert "'failing'" in str(caught.value)
        assert "ValueError" in str(caught.value)
        assert CANARY not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_what_cannot_be_handed_to_a_process_is_refused(population):
    with pytest.raises(InputError, match="use one worker"):
        simulate(
            population,
            KEYS,
            fractions="30%",
            samples=2,
            measures=[lambda codes, f, n: {}],
            workers=2,
        )


@pytest.mark.slow
def test_a_process_that_ends_is_told(population):
    with pytest.raises(LimitError, match="ended before its time"):
        simulate(population, KEYS, fractions="30%", samples=3, measures=[ending], workers=2)


def test_an_interrupted_simulation_resumes_where_it_was(population, tmp_path):
    options = {"fractions": ["20%", "40%"], "samples": 4, "measures": ["dis", "strategies"]}
    folder = tmp_path / "kept" / "here"
    whole = simulate(population, KEYS, **options)

    def stop(done, total):
        assert total == 8
        if done == 3:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        simulate(population, KEYS, **options, folder=folder, progress=stop)
    assert len(list(folder.glob("sample-*.json"))) == 3
    seen = []
    resumed = simulate(
        population, KEYS, **options, folder=folder, progress=lambda done, _: seen.append(done)
    )
    assert seen == [3, 4, 5, 6, 7, 8]
    assert resumed.measures == whole.measures
    assert np.array_equal(resumed.values, whole.values, equal_nan=True)
    assert not list(folder.glob(".*"))
    # Whatever is not a whole sample of this plan is drawn again.
    (folder / "sample-000001.json").write_text("{")
    (folder / "sample-000002.json").write_text((folder / "sample-000003.json").read_text())
    (folder / "sample-000004.json").write_text('{"sample": 4, "fraction": "1/5", "values": [1]}')
    seen.clear()
    again = simulate(
        population, KEYS, **options, folder=folder, progress=lambda done, _: seen.append(done)
    )
    assert seen == [5, 6, 7, 8]
    assert np.array_equal(again.values, whole.values, equal_nan=True)


def test_a_folder_holds_a_plan_and_numbers_only(population, tmp_path):
    simulate(population, KEYS, fractions="20%", samples=2, measures=["dis"], folder=tmp_path / "a")
    plan = json.loads((tmp_path / "a" / "plan.json").read_text())
    assert plan["keys"] == KEYS
    assert (plan["samples"], plan["seed"], plan["fractions"]) == (2, 0, ["1/5"])
    kept = json.loads((tmp_path / "a" / "sample-000001.json").read_text())
    assert set(kept) == {"sample", "fraction", "values"}
    assert set(kept["values"]) == {"dis"}
    assert type(kept["values"]["dis"]) is float


def test_another_plan_or_other_data_are_refused(population, tmp_path):
    folder = tmp_path / "kept"
    simulate(population, KEYS, fractions="20%", measures=["dis"], folder=folder)
    others = coded_from_codes(people(seed=6), [*KEYS, "household"])
    for data, options, named in (
        (population, {"seed": 1}, "'seed'"),
        (population, {"samples": 2}, "'samples'"),
        (others, {}, "'data'"),
    ):
        with pytest.raises(InputError) as caught:
            simulate(data, KEYS, fractions="20%", measures=["dis"], folder=folder, **options)
        assert caught.value.reason is Reason.STALE
        assert f"these differ: {named}." in str(caught.value)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="holds other things"):
        simulate(population, KEYS, fractions="20%", folder=tmp_path / "mine")
    with pytest.raises(InputError, match="It is a file"):
        simulate(population, KEYS, fractions="20%", folder=tmp_path / "mine" / "letter.txt")
    with pytest.raises(StoreError, match="refused"):
        simulate(population, KEYS, fractions="20%", folder=tmp_path / "mine" / "letter.txt" / "x")


def test_bad_input_is_told_at_once(population):
    with pytest.raises(InputError) as caught:
        simulate(population, KEYS, fractions=["0", 2, "20%", 0.2])
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError) as caught:
        simulate(
            population, KEYS, fractions="20%", samples=0, workers=0, seed=-1, pool="horses",
            missing="maybe", r=[0], max_size=0, power=19,
        )  # fmt: skip
    assert len(caught.value.problems) == 8
    with pytest.raises(InputError) as caught:
        simulate(population, KEYS, fractions="20%", measures=["diss", "dis", "dis"], r=[2, 2])
    assert len(caught.value.problems) == 3
    assert "'dis'" in str(caught.value)
    with pytest.raises(InputError) as caught:
        simulate(
            population, ["aera", "sex", "sex"], fractions="20%", stratify_by="home",
            missing="wildcard",
        )  # fmt: skip
    assert len(caught.value.problems) == 4
    with pytest.raises(InputError, match="none is given"):
        simulate(population, fractions=[])
    with pytest.raises(InputError, match="none is given"):
        simulate(population, fractions=1)
    with pytest.raises(InputError, match="would be empty"):
        simulate(population, KEYS, fractions="1/1000")
    nobody = coded_from_codes([[0, 1], [1, 0]], ["sex", "age"])
    with pytest.raises(InputError, match="no records, or none without"):
        simulate(nobody, ["sex", "age"], fractions=1, missing="exclude")
    empty = coded_from_codes([[0, 1], [0, 2]], ["sex", "age"])
    with pytest.raises(InputError, match="'sex': all of its 2 cells are missing"):
        simulate(empty, ["sex", "age"], fractions=1)
    names = [f"v{number}" for number in range(65)]
    with pytest.raises(InputError, match="65 are given, and at most 64"):
        simulate(coded_from_codes([[1] * 65] * 2, names), names, fractions=1)


def test_means_sentences_and_plots(population):
    found = simulate(population, KEYS, fractions=["10%", "30%"], samples=5, seed=2)
    third = np.array([f == Fraction(3, 10) for f in found.fractions])
    values = found.column("dis")[third]
    line = found.mean("dis", Fraction(3, 10))
    assert line.samples == 5
    assert line.mean == pytest.approx(values.mean())
    assert line.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(5))
    assert (line.least, line.most) == (values.min(), values.max())
    table = found.means().to_arrow()
    assert table.num_rows == 6
    assert table.column("mean").to_pylist()[-1] == line.mean
    told = found.sentences()
    assert told[0].startswith("10 samples of 10% to 30% were drawn from a population of 300")
    assert f"{line.mean:.4g} on average" in told[-1]
    axes = found.plot(["dis"]).axes[0]
    points, means = axes.lines
    assert list(points.get_ydata()) == found.column("dis").tolist()
    assert means.get_ydata()[1] == line.mean
    with pytest.raises(InputError, match="cannot be found"):
        found.plot(["diss"])
    with pytest.raises(InputError, match="not among those"):
        found.column("diss")
    with pytest.raises(InputError, match="none was named"):
        found.mean("dis")
    assert "300" in repr(found)
    one = simulate(population, KEYS, fractions="10%")
    assert one.mean("dis").standard_error is None
    assert one.sentences()[0].startswith("1 sample of 10% was drawn")


columns = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), min_size=2, max_size=30).map(
    np.array
)


@given(columns)
def test_correlations_agree_with_their_definitions(table):
    first, second = table[:, 0].astype(float), table[:, 1].astype(float)
    found = pearson(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
        assert spearman(first, second) is None
        return
    assert found == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-12)
    ranks = [[sum(x < y for x in column) + (sum(x == y for x in column) + 1) / 2 for y in column]
             for column in (first, second)]  # fmt: skip
    assert mid_ranks(first).tolist() == ranks[0]
    assert spearman(first, second) == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12)


def test_correlations_of_huge_scores_and_of_nothing():
    huge = np.array([1e300, 2e300, 4e300])
    assert pearson(huge, np.array([1.0, 2.0, 4.0])) == pytest.approx(1)
    assert pearson(np.array([]), np.array([])) is None
    assert pearson(np.array([1.0]), np.array([1.0])) is None


def test_groups_of_scores():
    scores = np.array([0, 0.0999, 0.1, 0.3, 0.95, 1 - 1e-12, 1])
    assert band_of_probability(scores).tolist() == [0, 0, 1, 3, 9, 10, 10]
    assert rank_groups(np.arange(20.0), 10).tolist() == [n // 2 for n in range(20)]
    assert rank_groups(np.zeros(0), 10).tolist() == []


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_groups_by_rank_keep_ties_together_and_the_order(scores):
    bands = rank_groups(np.array(scores, dtype=float), N_TENTHS)
    assert 0 <= bands.min() <= bands.max() < N_TENTHS
    by_score = sorted(zip(scores, bands.tolist(), strict=True))
    assert [band for _, band in by_score] == sorted(bands.tolist())
    assert len(set(by_score)) == len(set(scores))
