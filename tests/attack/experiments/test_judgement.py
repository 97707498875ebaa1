from __future__ import annotations

import json
import time
import traceback
from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.algorithms.uniques.scores import dis_is
from gamekeeper.attack.experiments.compare import compare_measures
from gamekeeper.attack.experiments.harness import SampleData
from gamekeeper.attack.experiments.judgement import judge
from gamekeeper.attack.experiments.scores import (
    BANDS,
    MEASURES,
    JointTable,
    Scores,
    joint_counts,
)
from gamekeeper.attack.experiments.simulate import simulate
from gamekeeper.attack.uniques.suda import assess_uniques
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import Cancelled, InputError, Reason
from gamekeeper.report.page import build_risk_report
from gamekeeper.report.risk_report import comparison_report

CLASSIC = ("suda", "is", "dis_suda", "dis_is")
KEYS = ["area", "age", "sex", "work"]
CANARY = 77123


def people(n=1500, seed=5):
    generator = np.random.default_rng(seed)
    age = generator.geometric(0.12, n).clip(1, 40)
    return np.column_stack(
        [
            generator.integers(1, 7, n),
            age,
            generator.integers(1, 3, n),
            (age // 10 + generator.integers(0, 4, n)).clip(0, 6),
        ]
    )


@pytest.fixture(scope="module")
def population():
    return coded_from_codes(people().tolist(), KEYS)


@pytest.fixture(scope="module")
def compared(population):
    return compare_measures(
        population, KEYS, fractions=["10%", "1/4"], samples=3, seed=7, measures=CLASSIC
    )


def rarity(sample: SampleData) -> Scores:
    """Rank by the product of the shares of a record's categories: a measure of one's own."""
    rare = np.zeros(len(sample.uniques))
    for column in sample.codes.T:
        counts = np.bincount(column)
        rare -= np.log(counts[column[sample.uniques]])
    chance = 1 / (1 + np.exp(rare.mean() - rare))
    return Scores(rare, match=np.sqrt(chance), unique=chance, pr_cm_given_um=0.25)


def drawing(sample: SampleData) -> Scores:
    return Scores(np.random.default_rng(sample.seed).random(len(sample.uniques)))


def moody(sample: SampleData) -> Scores:
    """Rank as IS does, on a scale of the sample's own."""
    return Scores(MEASURES["is"](sample).values * 1000.0 ** (sample.seed % 5))


def failing(sample: SampleData) -> Scores:
    raise ValueError(CANARY)


def short(sample: SampleData) -> Scores:
    return Scores(np.zeros(len(sample.uniques) + 1))


def numbers(comparison):
    return comparison.to_arrow().to_pydict()


def counts_by_hand(records):
    keys, counts = np.unique(records, axis=0, return_counts=True)
    return {tuple(key): count for key, count in zip(keys.tolist(), counts.tolist(), strict=True)}


def test_a_search_may_look_at_fewer_variables_together(population, compared):
    asked = {"fractions": ["10%", "1/4"], "samples": 3, "seed": 7, "measures": CLASSIC}
    few = compare_measures(population, KEYS, max_size=2, **asked)
    assert few.provenance.parameters["max_size"] == "2"
    assert few.to_arrow()["auc"] != compared.to_arrow()["auc"]
    every = compare_measures(population, KEYS, max_size=len(KEYS), **asked)
    assert every.to_arrow()["auc"] == compared.to_arrow()["auc"]


class TestJudge:
    def test_every_number_by_hand(self):
        sizes = np.array([1, 1, 2, 4, 4])
        unique, match = np.array([0.9, 0.4, 0.5, 0.2, 0.1]), np.array([0.9, 0.5, 0.6, 0.25, 0.2])
        judged = judge({"model": Scores(unique, match, unique, 0.5)}, sizes)
        line = judged.line("model")
        # Six pairs; only 0.4 against 0.5 is lost.
        assert line.auc.value == pytest.approx(5 / 6)
        assert line.auc_within == line.auc
        y, chance = sizes == 1, 1 / sizes
        assert line.unique.brier == pytest.approx(((unique - y) ** 2).mean())
        assert line.unique.skill == pytest.approx(1 - line.unique.brier / (0.4 * 0.6))
        assert line.match.brier == pytest.approx(((match - chance) ** 2).mean())
        uniques = line.population_uniques
        assert (uniques.estimate, uniques.truth) == pytest.approx((2.1, 2))
        assert uniques.relative_error == uniques.absolute_error == pytest.approx(0.05)
        matches = line.correct_matches
        assert (matches.estimate, matches.truth) == pytest.approx((2.45, 3))
        assert line.pr_cm_given_um.truth == pytest.approx(5 / 12)
        assert line.pr_cm_given_um.relative_error == pytest.approx(0.2)
        assert line.non_unique_ratio == pytest.approx(1.05)
        assert line.rank_slope > 0
        assert line.unique.slope > 0
        assert line.seconds is None

    def test_a_score_alone_is_judged_by_its_order(self):
        judged = judge({"a": [3, 2, 1], "b": [30, 20, 1], "c": [1, 2, 3]}, [1, 2, 3])
        assert judged.line("a").auc == judged.line("b").auc
        assert judged.line("c").auc.value == 0
        assert judged.line("a").rank_slope is None
        assert judged.best.measure == "a"
        assert judged.line("a").match is None
        assert judged.to_arrow().column("match_brier").null_count == 3
        assert judged.plot_predictions() is None
        assert judged.plot_calibration() is None
        assert judged.plot().axes
        assert [row[0] for row in judged.differences("c").rows] == ["a", "b"]

    @pytest.mark.parametrize("chance", [0.0, 0.3, 1e-9])
    def test_one_probability_for_all_has_no_slope(self, chance):
        same = np.full(3, chance)
        line = judge({"a": Scores(same, same, same)}, [1, 2, 3]).line("a")
        assert line.match.slope is None
        assert line.unique.intercept is None
        assert line.auc.value == 0.5
        assert line.unique.brier == pytest.approx(((same - [1, 0, 0]) ** 2).mean())

    def test_nobody_or_one_kind_has_no_ranking(self):
        for sizes in ([], [1, 1], [2, 5]):
            judged = judge({"a": Scores(np.ones(len(sizes)), np.ones(len(sizes)))}, sizes)
            assert judged.best is None
            assert judged.summary()["best"] == "not known"
            assert "no ranking" in judged.sentences()[1]
            assert judged.plot().axes
            assert judged.differences("a").rows == ()

    def test_all_that_is_wrong_is_told_without_values(self):
        with pytest.raises(InputError) as caught:
            judge(
                {"a": [1.0], "b": Scores(np.array([1.0, np.nan]), np.array([0.5, CANARY]))}, [1, 2]
            )
        assert len(caught.value.problems) == 3
        assert str(CANARY) not in str(caught.value)
        for sizes in ([1, 0], [1.5, 2], [[1], [2]]):
            with pytest.raises(InputError):
                judge({"a": [1, 2]}, sizes)
        with pytest.raises(InputError):
            judge({}, [1])
        with pytest.raises(InputError) as caught:
            judge({"suda": [1, 2]}, [1, 2]).line("suad")
        assert "suda" in str(caught.value)


class TestJointTable:
    # Smith's thesis, table 2: sample counts 0, 1, 2, ... of a 1% sample by population counts.
    ONE_PERCENT = (
        (3639639605, 26604, 5327, 2275, 1256, 822, 1647, 824, 527),
        (0, 280, 102, 73, 53, 47, 141, 104, 219),
        (0, 0, 1, 1, 0, 1, 0, 9, 47),
    )

    def test_counts_fall_in_the_printed_bands(self):
        least = {"0": 0, "6-10": 6, "11-20": 11, "21+": 21}
        first = [least.get(band, 0) or int(band.rstrip("+").split("-")[0]) for band in BANDS]
        f, size = zip(*[(a, b) for a in first for b in first if a <= b], strict=True)
        table = joint_counts(np.array(f), np.array(size))
        assert (table == np.triu(np.ones((9, 9), int))).all()
        edges = joint_counts(np.zeros(6, int), np.array([5, 6, 10, 11, 20, 21]))
        assert edges[0].tolist() == [0, 0, 0, 0, 0, 1, 2, 2, 1]

    def test_totals_of_the_printed_table(self):
        counts = np.zeros((9, 9), np.int64)
        counts[:3] = self.ONE_PERCENT
        counts[0, 0] = 0
        counts[3:7, 8] = 21, 9, 4, 1
        table = JointTable.of([counts], 3_639_680_000)
        rows = {row[0]: row[1:] for row in table.listing().rows}
        assert rows["0"] == (*self.ONE_PERCENT[0], 3639678887)
        assert rows["1"] == (None, *self.ONE_PERCENT[1][1:], 1019)
        assert rows["2"][-1] == 59
        assert rows["total"] == (
            3639639605, 26884, 5430, 2349, 1309, 870, 1788, 937, 828, 3639680000,
        )  # fmt: skip

    def test_several_samples_give_means(self):
        one, two = np.zeros((9, 9), np.int64), np.zeros((9, 9), np.int64)
        one[1, 1], two[1, 1] = 3, 4
        rows = JointTable.of([one, two], 10).listing().rows
        assert rows[1][2] == 3.5
        assert rows[-1][-1] == 10


class TestCompareMeasures:
    def test_every_sample_is_that_of_a_simulation_and_scored_as_an_assessment(
        self, population, compared
    ):
        told = simulate(
            population, KEYS, fractions=["10%", "1/4"], samples=3, seed=7,
            measures=["counts", "dis", "pr_cm_given_um", "pr_pu_given_su"],
        )  # fmt: skip
        samples = [s for setting in compared.settings for s in setting.judgement.samples]
        assert [len(s.population_sizes) for s in samples] == told.column("sample_uniques").tolist()
        for place, sample in enumerate(samples):
            sizes = sample.population_sizes
            assert (sizes == 1).mean() == pytest.approx(told.column("pr_pu_given_su")[place])
            assert len(sizes) / sizes.sum() == pytest.approx(told.column("pr_cm_given_um")[place])
            assert sample.scores["dis_is"].pr_cm_given_um == pytest.approx(
                told.column("dis")[place]
            )

    @pytest.mark.slow
    def test_scores_and_truth_are_those_of_the_same_records(self):
        records = people(400, seed=2)
        file = coded_from_codes(records.tolist(), KEYS)
        found = compare_measures(file, KEYS, fractions=[1], measures=list(MEASURES))
        sample = found.settings[0].judgement.samples[0]
        assert (sample.population_sizes == 1).all()
        table = assess_uniques(count_keys(file, KEYS, fraction=1)).records.table
        assessed = table.to_pandas().query("class_size == 1").sort_values("record")
        for name in ("suda", "is", "dis_suda", "dis_is"):
            assert sample.scores[name].values == pytest.approx(assessed[name].to_numpy(float))

    def test_population_sizes_follow_the_sampled_records(self, population):
        seen = {}

        def spy(sample: SampleData) -> Scores:
            seen["rows"] = sample.codes[sample.uniques].tolist()
            seen["levels"], seen["fraction"] = sample.levels, sample.fraction
            return Scores(np.zeros(len(sample.uniques)))

        found = compare_measures(population, KEYS, fractions=["10%"], measures=[spy])
        whole = counts_by_hand(people())
        wanted = [whole[tuple(row)] for row in seen["rows"]]
        assert found.settings[0].judgement.samples[0].population_sizes.tolist() == wanted
        # Only the last variable has missing cells, and they are one more category.
        n_codes = [int(column.max()) for column in people().T]
        assert seen["levels"] == (*n_codes[:3], n_codes[3] + 1)
        assert seen["fraction"] == Fraction(1, 10)
        assert found.n_cells == np.prod(seen["levels"])

    def test_the_joint_table_counts_every_cell(self, compared):
        setting = compared.at(Fraction(1, 4))
        cells = np.array(setting.joint.cells())
        assert cells.sum() == 3 * compared.n_cells
        assert cells[:, 1].sum() == 3 * compared.n_population_uniques
        assert cells[1].sum() == setting.judgement.n_uniques
        assert cells[1, 1] == setting.judgement.n_population_uniques

    def test_dis_is_ranks_as_is_within_a_sample(self, population):
        found = compare_measures(population, KEYS, fractions=["10%"], measures=CLASSIC)
        found = found.settings[0].judgement
        assert found.line("is").auc == found.line("dis_is").auc
        assert found.difference("is", "dis_is").value == 0
        sample = found.samples[0]
        uniques = sample.scores["is"].values
        assert dis_is(uniques, sample.scores["dis_is"].pr_cm_given_um, 4) == pytest.approx(
            sample.scores["dis_is"].values
        )

    def test_a_scale_that_differs_by_sample_costs_a_measure_only_when_pooled(self, population):
        found = (
            compare_measures(population, KEYS, fractions=["20%"], samples=5, measures=["is", moody])
            .settings[0]
            .judgement
        )
        steady, moved = found.line("is"), found.line("moody")
        assert moved.auc.value < steady.auc.value - 0.1
        assert moved.auc_within.value == pytest.approx(steady.auc_within.value)
        assert found.difference("moody", "is").high < 0
        assert found.difference("moody", "is", within=True).value == pytest.approx(0)
        assert moved.rank_slope == pytest.approx(steady.rank_slope)
        assert "by ranks within samples" in " ".join(found.sentences())

    def test_a_measure_of_ones_own_is_judged_beside_the_others(self, population):
        found = compare_measures(
            population, KEYS, fractions=["20%"], samples=12, measures=["is", rarity, drawing]
        )
        judged = found.settings[0].judgement
        line = judged.line("rarity")
        assert line.unique.slope > 0
        assert line.match.slope > 0
        assert line.population_uniques.truth == pytest.approx(judged.n_population_uniques / 12)
        assert line.pr_cm_given_um.estimate == 0.25
        drawn = judged.line("drawing").auc
        assert drawn.low < 0.5 < drawn.high
        assert judged.difference("is", "drawing").low > 0
        assert judged.pooled().groups is not None
        assert len({sample.scores["drawing"].values[0] for sample in judged.samples}) == 12
        assert len(judged.plot_predictions().axes) >= 1
        assert len(judged.plot_calibration().axes) == 2

    def test_shared_work_is_charged_to_every_measure_that_needs_it(self):
        sample = SampleData(np.ones((3, 1), np.uint8), (2,), Fraction(1, 2), np.full(3, 3), 0)
        made = []

        def make():
            made.append(1)
            time.sleep(0.2)
            return made

        def measure(seen):
            seen.shared("heavy", make)
            return Scores(np.zeros(0))

        (_, first), (_, second) = sample.timed(measure), sample.timed(measure)
        assert made == [1]
        assert min(first, second) >= 0.2
        assert sample.timed(lambda _: Scores(np.zeros(0)))[1] < 0.2

    def test_words_tables_and_times(self, compared):
        assert compared.measures == ("suda", "is", "dis_suda", "dis_is")
        table = compared.to_arrow()
        assert table.num_rows == 8
        assert table.column("fraction").to_pylist() == [0.1] * 4 + [0.25] * 4
        times = compared.timings()
        assert all(0 < row[3] <= row[2] <= row[4] for row in times.rows)
        assert "1,500 records" in compared.sentences()[0]
        assert compared.summary()["samples"] == 6
        assert compared.plot().axes
        with pytest.raises(InputError):
            compared.at(Fraction(1, 3))

    @pytest.mark.slow
    def test_the_page_has_figures_tables_and_times(self, population):
        found = compare_measures(population, KEYS, fractions=["10%"], measures=CLASSIC)
        page = build_risk_report(comparison_report(found, name="<b>town</b>"))
        assert page.count("<svg") == 4
        assert "<b>town" not in page
        for words in ("DIS-IS", "Logit rank plot", "Pr(CM|UM)", "11-20", "Seconds per sample"):
            assert words in page

    def test_a_comparison_without_probabilities_has_a_page_too(self, population):
        found = compare_measures(population, KEYS, fractions=["10%"], measures=["is"])
        page = build_risk_report(comparison_report(found, name="town"))
        assert page.count("<svg") == 2


class TestRepeating:
    @pytest.mark.slow
    def test_the_same_whatever_the_workers(self, population, compared):
        by_two = compare_measures(
            population, KEYS, fractions=["10%", "1/4"], samples=3, seed=7, measures=CLASSIC,
            workers=2,
        )  # fmt: skip
        assert numbers(by_two) == numbers(compared)

    def test_another_seed_gives_other_samples(self, population, compared):
        other = compare_measures(
            population, KEYS, fractions=["10%", "1/4"], samples=3, seed=8, measures=CLASSIC
        )
        assert numbers(other) != numbers(compared)

    def test_a_cancelled_comparison_is_resumed_where_it_stopped(self, population, tmp_path):
        calls = []

        def run(progress):
            return compare_measures(
                population, KEYS, fractions=["10%"], samples=4, measures=["is", rarity],
                folder=tmp_path / "kept", progress=progress,
            )  # fmt: skip

        def stop(done, total):
            if done == 2:
                raise Cancelled("A comparison was asked for.")

        with pytest.raises(Cancelled):
            run(stop)
        # A damaged file is drawn again.
        (tmp_path / "kept" / "sample-000001.npz").write_bytes(b"PK")
        found = run(lambda done, total: calls.append((done, total)))
        assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]
        whole = compare_measures(
            population, KEYS, fractions=["10%"], samples=4, measures=["is", rarity]
        )
        assert numbers(found) == numbers(whole)
        again = run(lambda done, total: calls.append((done, total)))
        assert calls[4:] == [(4, 4)]
        assert again.timings().rows == found.timings().rows
        kept = json.loads((tmp_path / "kept" / "plan.json").read_text())
        assert kept["fractions"] == ["1/10"]

    def test_a_folder_of_another_plan_is_refused(self, population, tmp_path):
        compare_measures(
            population, KEYS, fractions=["10%"], measures=["is"], folder=tmp_path / "k"
        )
        with pytest.raises(InputError) as caught:
            compare_measures(
                population, KEYS, fractions=["10%"], measures=["suda"], folder=tmp_path / "k"
            )
        assert caught.value.reason is Reason.STALE


class TestBadInput:
    def test_everything_wrong_with_the_options_is_told(self, population):
        with pytest.raises(InputError) as caught:
            compare_measures(population, KEYS, fractions=["2", "1%", 0.01])
        assert len(caught.value.problems) == 2
        with pytest.raises(InputError) as caught:
            compare_measures(population, KEYS, samples=0, workers=0, missing="no")
        assert len(caught.value.problems) == 3
        with pytest.raises(InputError) as caught:
            compare_measures(population, KEYS, measures=["siuda", "is", "is"])
        assert [p.reason for p in caught.value.problems] == [Reason.UNKNOWN_NAME, Reason.DUPLICATE]
        for options in ({"measures": []}, {"fractions": []}, {"fractions": ["0.01%"]}):
            with pytest.raises(InputError):
                compare_measures(population, KEYS, **options)
        with pytest.raises(InputError):
            compare_measures(population, ["area", "nobody"])

    @pytest.mark.parametrize("measure", [failing, short])
    def test_a_measure_that_fails_is_named_without_what_it_said(self, population, measure):
        with pytest.raises(InputError) as caught:
            compare_measures(population, KEYS, fractions=["10%"], measures=[measure])
        assert measure.__name__ in str(caught.value)
        assert str(CANARY) not in str(caught.value)

    @pytest.mark.slow
    def test_what_fails_in_a_process_is_told_in_the_same_words(self, population):
        with pytest.raises(InputError) as caught:
            compare_measures(
                population, KEYS, fractions=["10%"], samples=2, workers=2, measures=[failing]
            )
        told = "".join(traceback.format_exception(caught.value))
        assert "failing" in str(caught.value)
        assert str(CANARY) not in told.replace("raise ValueError(CANARY)", "")

    def test_a_measure_that_processes_cannot_have_is_refused(self, population):
        with pytest.raises(InputError) as caught:
            compare_measures(
                population, KEYS, fractions=["10%"], samples=2, workers=2,
                measures=[lambda sample: Scores(np.zeros(len(sample.uniques)))],
            )  # fmt: skip
        assert "process" in str(caught.value)

    def test_samples_without_uniques_are_judged_as_such(self):
        file = coded_from_codes([[1, 1]] * 60, ["a", "b"])
        found = compare_measures(file, ["a", "b"], fractions=["50%"], samples=2)
        assert found.settings[0].judgement.n_uniques == 0
        assert found.summary()["best at 50%"] == "not known"
        assert build_risk_report(comparison_report(found, name="town")).count("<svg") == 2

    def test_a_population_of_one(self):
        file = coded_from_codes([[1]], ["a"])
        found = compare_measures(file, ["a"], fractions=[1])
        assert found.settings[0].judgement.n_population_uniques == 1

    def test_nothing_shows_records(self, compared):
        setting = compared.settings[0]
        shown = repr(compared) + repr(setting) + repr(setting.judgement) + repr(setting.joint)
        sample = setting.judgement.samples[0]
        shown += repr(sample) + repr(sample.scores["is"])
        assert "array" not in shown
        assert len(shown) < 1500
