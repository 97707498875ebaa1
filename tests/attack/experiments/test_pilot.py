from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.algorithms.uniques.scores import dis_is, dis_suda, size_weights, weigh
from gamekeeper.attack.experiments.harness import draw_records
from gamekeeper.attack.experiments.pilot import (
    fraction_experiment,
    pilot_study,
    strategy_experiment,
)
from gamekeeper.attack.experiments.simulate import MODEL_CURVES, measure_words, simulate
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import InputError

KEYS = ["area", "age", "sex", "kind"]
MODELLED = ("a", "b", "c")


def people():
    generator = np.random.default_rng(12)
    return np.column_stack(
        [
            generator.integers(1, 6, 600),
            generator.geometric(0.25, 600).clip(1, 15),
            generator.integers(1, 3, 600),
            generator.geometric(0.5, 600).clip(1, 6),
        ]
    ).astype(np.uint8)


@pytest.fixture(scope="module")
def population():
    return coded_from_codes(people(), KEYS)


@pytest.fixture(scope="module")
def study(population):
    return pilot_study(population, KEYS, fraction="20%", samples=6, stratify_by="area", seed=9)


def test_strategies_obey_what_is_proved_of_them(population):
    found = strategy_experiment(population, KEYS, fraction="10%", samples=8, seed=1)
    table = found.to_arrow()
    assert table.num_rows == 8 * 7
    lines = {(line["sample"], line["strategy"]): line for line in table.to_pylist()}
    for sample in range(1, 9):
        at = {number: lines[sample, number] for number in range(1, 8)}
        assert at[4]["pr_cm"] >= at[5]["pr_cm"]
        assert at[3]["pr_cm"] >= at[2]["pr_cm"]
        assert at[4]["cost_without"] >= at[5]["cost_without"]
        for number in (1, 4, 6):
            if at[number]["pr_cm"] is not None:
                # All on the line probability = cost / N.
                assert at[number]["cost_with"] == pytest.approx(600 * at[number]["pr_cm"])
    column = [lines[sample, 4]["pr_cm"] for sample in range(1, 9)]
    assert found.mean(4) == pytest.approx(np.mean(column))
    assert len(found.sentences()) == 8
    assert f"probability {found.mean(4):.3f}" in found.sentences()[4]
    assert found.summary()["r"] == 3
    axes = found.plot().axes
    assert [len(ax.lines) for ax in axes] == [7, 7]
    assert axes[0].lines[3].get_ydata().tolist() == column


def test_a_strategy_without_target_says_so():
    single = coded_from_codes([[1], [2], [3], [4]], ["age"])
    found = strategy_experiment(single, ["age"], fraction="1/2", samples=2)
    assert found.mean(6) is None
    assert found.sentences()[6].endswith("had no target in any sample.")
    assert found.to_arrow().column("pr_cm").null_count == 4


def test_fractions_end_where_everybody_is_in_the_sample(population):
    found = fraction_experiment(population, KEYS, fractions=["5%", "50%", 1], seed=2)
    last = found.to_arrow().to_pylist()[-1]
    assert (last["pr_cm_given_su"], last["pr_cm_given_um"], last["pr_pu_given_su"], last["dis"]) == (
        1, 1, 1, 1,
    )  # fmt: skip
    for line in found.to_arrow().to_pylist():
        assert line["pr_cm_given_su"] >= line["pr_cm_given_um"]
        assert line["pr_cm_given_su"] >= line["pr_pu_given_su"]
    gaps = np.abs(
        found.to_arrow().column("dis").to_numpy()
        - found.to_arrow().column("pr_cm_given_um").to_numpy()
    )
    assert found.dis_error == pytest.approx(gaps.mean())
    assert f"by {gaps.mean():.4f} on average" in found.sentences()[-2]
    assert len(found.plot().axes[0].lines) == 8


def test_dis_follows_what_it_estimates(population):
    found = simulate(population, KEYS, fractions="40%", samples=60, seed=5)
    gaps = found.column("dis") - found.column("pr_cm_given_um")
    # A ratio estimator: its bias is of the order of one over the sample size.
    assert abs(gaps.mean()) < 4 * gaps.std(ddof=1) / np.sqrt(60) + 2 / 240
    assert abs(gaps.mean()) < 0.1 * found.mean("pr_cm_given_um").mean


def test_every_percentage_is_tried_by_default(population):
    found = fraction_experiment(population, KEYS)
    assert [line.as_py() for line in found.to_arrow().column("fraction")] == [
        percent / 100 for percent in range(1, 100)
    ]


def test_the_study_scores_every_sample_as_by_hand(study):
    codes = people()
    _, classes, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    big = sizes[classes.ravel()]
    totals = {}
    for number, seeds in enumerate(np.random.SeedSequence(9).spawn(6)):
        strata = (codes[:, 0] - 1).astype(np.int32)
        drawn = draw_records(600, 120, np.random.default_rng(seeds), strata)
        msus = find_minimal_uniques(codes[drawn], workers=1)
        uniques = msus.records
        chances = 1 / big[drawn][uniques]
        value = float(study.simulation.column("dis")[number])
        suda = weigh(msus.counts, size_weights(4, "suda"))
        score_is = weigh(msus.counts, size_weights(4, "is"))
        scores = {
            "suda": suda,
            "is": score_is,
            "dis_suda": dis_suda(suda, value).values,
            "dis_is": dis_is(score_is, value, 4),
        }
        for name, score in scores.items():
            found = study.simulation.column(f"{name}.pearson")[number]
            assert found == pytest.approx(np.corrcoef(score, chances)[0, 1])
            everyone = np.zeros(120)
            everyone[uniques] = score
            found = study.simulation.column(f"{name}.pearson_all")[number]
            assert found == pytest.approx(np.corrcoef(everyone, 1 / big[drawn])[0, 1])
        for band, chance in zip((scores["dis_is"] * 10).astype(int), chances, strict=True):
            totals.setdefault(int(band), []).append(chance)
    lines = [line for line in study.calibration if (line.score, line.by) == ("dis_is", "score")]
    assert [line.records for line in lines] == [len(totals[band]) for band in sorted(totals)]
    for line, band in zip(lines, sorted(totals), strict=True):
        assert line.mean_chance == pytest.approx(np.mean(totals[band]))
        assert line.population_uniques == totals[band].count(1)
        assert band / 10 <= line.mean_score < (band + 1) / 10
        assert line.group == f"{band / 10:g} to under {(band + 1) / 10:g}"


def test_the_study_is_told(study):
    table = study.to_arrow()
    uniques = study.simulation.column("sample_uniques").sum()
    for name in ("DIS-SUDA", "DIS-IS", "IS", "SUDA"):
        by_rank, by_score = (
            [
                line["records"]
                for line in table.to_pylist()
                if (line["score"], line["grouped_by"]) == (name, by)
            ]
            for by in ("rank", "score")
        )
        assert sum(by_rank) == uniques
        assert sum(by_score) == (uniques if name.startswith("DIS") else 0)
    assert study.correlations().to_arrow().num_rows == 16
    assert len(study.sentences()) == 1 + 8 + 4 + 2
    assert study.summary()["dis_is_correlation"] == study.correlation("dis_is").mean > 0
    assert len(study.plot().axes[0].lines) == 3
    assert study.provenance.variant == "stratified, proportional allocation"


def test_the_power_of_ten_changes_dis_suda_only(population):
    one, other = (
        pilot_study(population, KEYS, fraction="20%", samples=2, power=power, seed=1)
        for power in (2, 9)
    )
    for name in ("dis_is", "is"):
        assert one.correlation(name) == other.correlation(name)
    assert one.correlation("dis_suda") != other.correlation("dis_suda")


def test_scores_that_are_not_known_are_refused(population):
    with pytest.raises(InputError, match="dis_is"):
        pilot_study(population, KEYS, scores=["dis_si", "is"])
    with pytest.raises(InputError, match="No score"):
        pilot_study(population, KEYS, scores=[])


def test_words_of_measures():
    assert measure_words("strategy_4.cost_with") == (
        "Strategy 4, people searched on average, anybody again"
    )
    assert measure_words("dis_is.spearman") == (
        "DIS-IS, Spearman correlation with 1/F over sample uniques"
    )
    assert measure_words("own.number") == "own.number"
    assert measure_words("pr_pu").startswith("Pr(PU)")


@pytest.fixture(scope="module")
def alike():
    rng = np.random.default_rng(5)
    first = rng.integers(1, 9, 600)
    second = np.where(rng.random(600) < 0.7, first, rng.integers(1, 9, 600))
    return coded_from_codes(np.stack([first, second, rng.integers(1, 5, 600)], axis=1), MODELLED)


def test_models_are_compared_over_fractions(alike):
    found = fraction_experiment(alike, MODELLED, fractions=["10%", "50%"], with_models=True)
    assert set(MODEL_CURVES) <= set(found.to_arrow().column_names)
    for name in MODEL_CURVES:
        values = found.simulation.column(name)
        assert ((values > 0) & (values <= 1)).all()
    # In the small sample the ten keys that rank first are better targets than any sample unique.
    first = found.simulation.column("models_top10.pr_cm")
    assert first[0] > found.simulation.column("pr_cm_given_su")[0]
    assert any("MCMCMC1" in sentence for sentence in found.sentences())
    # At the true cost of a search for any unique, a search never costs less.
    cost = found.simulation.column("models_mcmcmc1.cost_with")
    assert (cost >= 1).all()


def test_without_models_nothing_is_said_of_them(alike):
    found = fraction_experiment(alike, MODELLED, fractions=["10%"])
    assert not set(MODEL_CURVES) & set(found.to_arrow().column_names)
