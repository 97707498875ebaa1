"""Attacks by measures over sampling fractions: what they achieve, cost and say."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.attack.experiments import compare
from gamekeeper.attack.experiments.attack_experiment import (
    BY_MEASURE,
    PLAIN,
    TOP,
    attack_words,
    matched_attacks,
    top_attack,
)
from gamekeeper.attack.experiments.compare import ATTACK_FRACTIONS, compare_measures
from gamekeeper.attack.experiments.harness import Sample, SampleData, open_population
from gamekeeper.attack.experiments.pilot import fraction_experiment
from gamekeeper.attack.experiments.scores import RecordEstimates, Scores, checked_scores
from gamekeeper.attack.experiments.simulate import simulate
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from gamekeeper.report.page import build_risk_report
from gamekeeper.report.risk_report import comparison_report
from gamekeeper.wording import cell_text
from tests.given.cases import cases

KEYS = ["area", "age", "work"]
RANGE = ["5%", "20%", "60%"]


def people(n=900, seed=5):
    generator = np.random.default_rng(seed)
    age = generator.geometric(0.08, n).clip(1, 60)
    work = (age // 10 + generator.integers(0, 6, n)).clip(0, 9)
    return np.column_stack([generator.integers(1, 9, n), age, work])


@pytest.fixture(scope="module")
def population():
    return coded_from_codes(people().tolist(), KEYS)


def attacked(population, **more):
    options = {
        "fractions": ["20%"], "samples": 2, "attack_fractions": RANGE, "measures": ["suda"],
        "seed": 3,
    }  # fmt: skip
    return compare_measures(population, KEYS, **(options | more))


@pytest.fixture(scope="module")
def found(population):
    return attacked(population, measures=["suda", "dis_is", "annealing"])


@pytest.fixture(scope="module")
def page(found):
    return build_risk_report(comparison_report(found, name="town"))


def timeless(found):
    return [
        *found.attacks.to_arrow().to_pylist(),
        *found.attacks.sentences(),
        *found.attacks.notices(),
        *found.sentences(),
    ]


def refusing(sample: SampleData) -> Scores:
    """Score what is small, and refuse what is large."""
    if len(sample.codes) > 300:
        raise LimitError(Reason.TOO_LARGE, "A score was asked for.", "There is too much.", "Stop.")
    return Scores(np.arange(len(sample.uniques), dtype=np.float64))


class TestTheFirstTen:
    @given(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(1, 5)), min_size=1, max_size=TOP + 4
        )
    )  # fmt: skip
    @cases(25)
    def test_ties_count_with_the_mean_over_all_choices(self, uniques):
        scores = [score for score, _ in uniques]
        n_taken = min(TOP, len(uniques))
        # All sets of ten whose lowest score is not below the highest left out.
        allowed = [
            chosen
            for chosen in itertools.combinations(range(len(uniques)), n_taken)
            if all(
                scores[one] >= scores[other]
                for one in chosen
                for other in set(range(len(uniques))) - set(chosen)
            )
        ]
        chances = [
            sum((Fraction(1, uniques[one][1]) for one in chosen), Fraction(0)) / n_taken
            for chosen in allowed
        ]
        expected = sum(chances, Fraction(0)) / len(chances)
        value = top_attack(
            np.array(scores, dtype=np.float64), np.array([size for _, size in uniques]), 500
        )
        assert value is not None
        assert value.pr_cm == pytest.approx(float(expected), abs=1e-12)
        assert value.cost == pytest.approx(500 * float(expected), abs=1e-9)
        assert value.keys == n_taken

    def test_without_a_sample_unique_there_is_none(self):
        assert top_attack(np.array([]), np.array([], dtype=np.int64), 10) is None


def slow_matched(sample, expected, true):
    """Take keys in order of expected size while a search costs no less than for any unique."""
    keys = {}
    for record, f, people, size in zip(
        sample.records.tolist(),
        sample.seen.class_sizes.tolist(),
        sample.population_sizes.tolist(),
        expected.tolist(),
        strict=True,
    ):
        keys[int(sample.population.classes[record])] = (size, people, f)
    ordered = [keys[number] for number in sorted(keys, key=lambda number: keys[number][0])]
    most = sum(people if true else size for size, people, f in ordered if f == 1)
    reached, taken, n_people = 0.0, 0, 0
    for size, people, _ in ordered:
        reached += people if true else size
        if reached > most * (1 + 1e-9):
            break
        taken += 1
        n_people += people
    return taken / n_people, sample.population.n_records / n_people, taken


@pytest.mark.parametrize("seed", range(5))
def test_attacks_at_equal_cost_are_what_a_plain_count_says(population, seed):
    notional = open_population(population, KEYS)
    generator = np.random.default_rng(seed)
    sample = Sample(notional, generator.choice(notional.n_records, 200, replace=False))
    # One number per class, none equal to another, so that the order is plain.
    guesses = 1 + generator.exponential(2, len(notional.sizes)) + (notional.sizes > 3)
    expected = np.maximum(guesses[notional.classes[sample.records]], sample.seen.class_sizes)
    expected = expected + notional.classes[sample.records] * 1e-9
    values = matched_attacks(sample, RecordEstimates(1 / expected, expected))
    for name, true in (("mcmcmc1", True), ("mcmcmc2", False)):
        value = values[name]
        assert (value.pr_cm, value.cost, value.keys) == pytest.approx(
            slow_matched(sample, expected, true)
        )
    alone = sample.seen.class_sizes == 1
    cost = notional.n_records / sample.population_sizes[alone].sum()
    assert values["mcmcmc1"].cost >= cost * (1 - 1e-9)


class TestTheExperiment:
    def test_samples_are_those_of_the_simulation_by_fractions(self, population):
        # The fraction that is judged comes first, then the others in their order.
        steps = ["20%", "5%", "60%"]
        same = fraction_experiment(population, KEYS, fractions=steps, seed=3).to_arrow()
        ours = attacked(population, samples=1).attacks
        for row in same.to_pylist():
            step = Fraction(str(row["fraction"]))
            for attack in PLAIN:
                assert ours.line(attack, "", step).pr_cm == pytest.approx(row[attack])

    def test_costs_are_those_of_strategies_4_and_5(self, population):
        plain = simulate(
            population, KEYS, fractions=["20%", "5%", "60%"], measures=["strategies"], seed=3
        )
        ours = attacked(population, samples=1).attacks
        for step in (Fraction(1, 5), Fraction(1, 20), Fraction(3, 5)):
            for attack, number in (("pr_cm_given_su", 4), ("pr_cm_given_um", 5)):
                line = ours.line(attack, "", step)
                cost = plain.mean(f"strategy_{number}.cost_with", step).mean
                assert line.cost == pytest.approx(cost)

    def test_measures_and_attacks_are_side_by_side(self, found):
        attacks = found.attacks
        assert attacks.fractions == (Fraction(1, 20), Fraction(1, 5), Fraction(3, 5))
        assert attacks.series == (
            *((attack, "") for attack in PLAIN),
            *(("top10", measure) for measure in ("suda", "dis_is", "annealing")),
            ("mcmcmc1", "annealing"),
            ("mcmcmc2", "annealing"),
        )
        table = attacks.to_arrow()
        assert table.num_rows == 3 * len(attacks.series)
        # Two samples of the fraction that is judged, one of the others.
        for row in table.to_pylist():
            assert row["samples"] == (2 if row["fraction"] == 0.2 else 1)
            assert 0 < row["pr_cm_least"] <= row["pr_cm"] <= row["pr_cm_most"] <= 1
            assert (row["cost"] is None) == (row["attack"] in ("pr_pu_given_su", "dis"))

    def test_from_sample_to_population_all_attacks_are_equally_efficient(self, found):
        for line in found.attacks.lines():
            if line.attack in ("top10", "pr_cm_given_su"):
                assert line.cost == pytest.approx(found.n_records * line.pr_cm)
            elif line.cost is not None and line.samples == 1:
                assert line.pr_cm / line.cost == pytest.approx(line.keys / found.n_records)

    def test_the_first_ten_are_found_from_what_a_measure_says(self, population, found):
        # What is judged keeps its scores, so that the first ten can be looked up.
        judged = found.settings[0].judgement.samples
        for measure in ("suda", "dis_is", "annealing"):
            chances = []
            for sample in judged:
                values = sample.scores[measure].values
                chances.append(top_attack(values, sample.population_sizes, 900).pr_cm)
            assert found.attacks.line("top10", measure, Fraction(1, 5)).pr_cm == np.mean(chances)

    def test_judged_measures_do_not_change_with_attacks(self, population, found):
        alone = attacked(
            population, attack_fractions=(), measures=["suda", "dis_is", "annealing"]
        )  # fmt: skip
        assert alone.to_arrow() == found.to_arrow()
        assert alone.attacks.fractions == (Fraction(1, 5),)

    def test_words(self, found):
        told = " ".join(found.attacks.sentences())
        assert found.attacks.sentences()[0].startswith("4 samples of 5% to 60% were attacked")
        for word in ("Pr(CM|UM)", "Pr(CM|SU)", "SUDA", "DIS-IS", "annealing", "MCMCMC1", "DIS was"):
            assert word in told
        measure, chance = found.attacks.best
        assert f"{chance:.3f}" in found.attacks.headline
        assert found.summary()["best first ten"] == f"{measure}, {chance:.3f}"
        assert "jump" in " ".join(found.attacks.notices())

    def test_nothing_shows_records(self, found):
        shown = (
            repr(found.attacks) + repr(found.attacks.samples[0]) + repr(Scores(np.array([0.25])))
        )
        assert "0.25" not in shown


class TestTheRange:
    def test_by_default_what_is_affordable(self, population, monkeypatch):
        whole = attacked(population, attack_fractions=None)
        # A sample of 1% has 9 records.
        assert whole.attacks.fractions == ATTACK_FRACTIONS
        assert whole.attacks.too_large == ()
        monkeypatch.setattr(compare, "AFFORDABLE", 3 * 300)
        part = attacked(population, attack_fractions=None)
        assert part.attacks.fractions == tuple(s for s in ATTACK_FRACTIONS if s < Fraction(2, 5))
        assert part.attacks.too_large == (Fraction(1, 2), Fraction(7, 10), Fraction(9, 10))
        assert "Samples of 50%, 70%, 90% were not attacked" in " ".join(part.attacks.notices())
        # What is asked for by name is drawn.
        assert attacked(population, attack_fractions=["90%"]).attacks.fractions[-1] == Fraction(
            9, 10
        )

    def test_fractions_that_give_no_record_are_left_out(self):
        file = coded_from_codes([[n % 5, n % 3] for n in range(30)], ["a", "b"])
        found = compare_measures(
            file, ["a", "b"], fractions=["50%"], attack_fractions=None, measures=["is"]
        )
        # 1% of 30 is nobody, 2% one.
        assert found.attacks.fractions[0] == Fraction(1, 50)

    def test_several_samples_of_each(self, population):
        found = attacked(population, attack_samples=3)
        assert [len(found.attacks.at(step)) for step in found.attacks.fractions] == [3, 2, 3]

    @pytest.mark.slow
    def test_a_measure_that_refuses_a_large_sample_is_left_out_there(self, population):
        found = attacked(population, measures=["is", refusing])
        assert found.attacks.left_out() == [("refusing", (Fraction(3, 5),))]
        assert found.attacks.curve("top10", "refusing")[-1] is None
        assert found.attacks.curve("top10", "is")[-1] is not None
        # A mean over fewer fractions would not be comparable.
        firsts = {m: found.attacks.curve("top10", m)[:-1] for m in ("is", "refusing")}
        assert found.attacks.best[1] == max(np.mean(chances) for chances in firsts.values())
        told = "Refusing is not shown at 60%"
        assert told in " ".join(found.attacks.notices())
        assert told in build_risk_report(comparison_report(found, name="town"))
        # Where it is to be judged, that is an error.
        with pytest.raises(LimitError):
            attacked(population, fractions=["60%"], measures=[refusing])

    def test_everything_wrong_is_told_at_once(self, population):
        with pytest.raises(InputError) as caught:
            attacked(population, fractions=["2"], attack_fractions=["5%", "1/20", "no"])
        places = [problem.where for problem in caught.value.problems]
        assert places == ["fraction '2'", "attack fraction '1/20'", "attack fraction 'no'"]
        with pytest.raises(InputError, match="attack_samples: 0 is less than 1"):
            attacked(population, attack_samples=0)
        with pytest.raises(InputError):
            attacked(population, attack_fractions=["0.001%"])

    def test_what_is_said_of_all_records_is_checked(self):
        wrong = Scores(
            np.array([0.5]), records=RecordEstimates(np.array([0.5, 2.0]), np.array([np.nan, 0.2]))
        )
        with pytest.raises(InputError) as caught:
            checked_scores("mine", wrong, 1, n_records=3)
        assert len(caught.value.problems) == 4
        assert checked_scores("mine", wrong, 1).records is None

    def test_samples_without_uniques(self):
        file = coded_from_codes([[1, 1]] * 60, ["a", "b"])
        found = compare_measures(
            file, ["a", "b"], fractions=["50%"], attack_fractions=["20%"], measures=["is"]
        )
        assert found.attacks.series == ()
        assert found.attacks.best is None
        assert found.attacks.to_arrow().num_rows == 0
        assert "No sample had a unique" in found.attacks.sentences()[-1]
        assert "No sample had a unique" in build_risk_report(comparison_report(found, name="town"))


class TestRepeating:
    @pytest.mark.slow
    def test_the_same_whatever_the_workers(self, population, found):
        by_two = attacked(population, measures=["suda", "dis_is", "annealing"], workers=2)
        assert timeless(by_two) == timeless(found)

    @pytest.mark.slow
    def test_one_seed_gives_one_page(self, population, page):
        again = attacked(population, measures=["suda", "dis_is", "annealing"])
        made = build_risk_report(comparison_report(again, name="town"))
        # Times are those of the day, in a section of their own and at the end.
        end = '<h2 id="times">'
        assert made[: made.index(end)] == page[: page.index(end)]

    def test_another_seed_gives_other_samples(self, population):
        assert timeless(attacked(population)) != timeless(attacked(population, seed=4))

    @pytest.mark.slow
    def test_a_cancelled_comparison_is_resumed_where_it_stopped(self, population, tmp_path):
        calls = []

        def run(progress):
            return attacked(
                population, measures=["is", "annealing", refusing], folder=tmp_path / "kept",
                progress=progress,
            )  # fmt: skip

        def stop(done, total):
            assert total == 4
            if done == 3:
                raise Cancelled("A comparison was asked for.")

        with pytest.raises(Cancelled):
            run(stop)
        first = run(lambda done, total: calls.append(done))
        assert calls == [3, 4]
        again = run(lambda done, total: calls.append(done))
        assert calls == [3, 4, 4]
        whole = attacked(population, measures=["is", "annealing", refusing])
        assert timeless(first) == timeless(again) == timeless(whole)
        assert again.to_arrow() == whole.to_arrow()
        assert again.timings().rows == first.timings().rows


class TestThePage:
    @pytest.mark.slow
    def test_numbers_of_the_page_are_those_of_the_library(self, found, page):
        section = page[page.index('<h2 id="attacks">') : page.index('<h2 id="times">')]
        tables = dict(
            zip(
                ("pr_cm", "cost", "keys"),
                re.findall(r"<tbody>(.*?)</tbody>", section, re.DOTALL),
                strict=True,
            )
        )
        attacks = found.attacks
        for part, body in tables.items():
            rows = [
                re.findall(r"<td[^>]*>(.*?)</td>", row)
                for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
            ]
            expected = [
                [attack_words(*one), *map(cell_text, attacks.curve(*one, part))]
                for one in attacks.series
                if any(value is not None for value in attacks.curve(*one, part))
            ]
            assert rows == expected
        for sentence in attacks.sentences():
            assert sentence in section
        assert section.count("<svg") == 3
        assert attacks.headline in page
        for attack in BY_MEASURE[1:]:
            assert attack.upper() in section

    def test_times_are_there_for_every_fraction(self, found, page):
        times = page[page.index('<h2 id="times">') :]
        assert times.count("<svg") == 2
        assert len(found.timings().rows) == 9
        for row in found.timings().rows:
            assert f'data-value="{row[2]!r}"' in times

    def test_without_a_measure_of_all_keys_no_attack_at_equal_cost_is_drawn(self, population):
        found = attacked(population)
        assert found.attacks.plot_matched() is None
        (section,) = (
            section
            for section in comparison_report(found, name="town").sections
            if section.name == "attacks"
        )
        assert len(section.figures) == 2
        assert not any("MCMCMC" in sentence for sentence in section.sentences)
