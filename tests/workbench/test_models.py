"""The intruder with models on a file, comparisons with attacks, and experiments on a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.csv
import pytest

import gamekeeper as gk
from gamekeeper.attack.options import FitOptions
from gamekeeper.errors import InputError, Reason
from gamekeeper.workbench.models import compare_on_population, infer_release, run_simulation
from gamekeeper.workbench.requests.records import (
    CompareRequest,
    ExperimentKind,
    InferRequest,
    MicrodataRequest,
    SampleDesign,
    SimulateRequest,
)
from tests.given.microdata import KEYS, OTHERS, PEOPLE, write


@pytest.fixture
def census(tmp_path):
    return MicrodataRequest(file=write(tmp_path, "census.csv", PEOPLE + "".join(OTHERS)), keys=KEYS)


def compared(census, **more):
    asked = CompareRequest(
        microdata=census, fractions=("50%",), measures=("is",), workers=1, seed=2, **more
    )
    return compare_on_population(asked).found


@pytest.mark.parametrize(
    ("more", "fractions"),
    [
        ({}, ()),
        ({"attacks": True}, None),
        ({"attacks": False}, ()),
        ({"attack_fractions": ("20%",), "attack_samples": 2}, ["20%"]),
    ],
)
def test_the_range_of_attacks_is_a_choice(census, more, fractions):
    coded = gk.code_source(gk.open_source(census.file), KEYS)
    expected = gk.risk.compare_measures(
        coded, KEYS, fractions=["50%"], measures=["is"], seed=2, attack_fractions=fractions,
        attack_samples=more.get("attack_samples", 1),
    )  # fmt: skip
    found = compared(census, **more)
    assert found.attacks.to_arrow() == expected.attacks.to_arrow()
    assert found.to_arrow() == expected.to_arrow()


def test_a_comparison_hands_on_how_far_to_search(census):
    told = compared(census, max_size=2).provenance.parameters
    assert told["max_size"] == "2"


@pytest.mark.slow
def test_a_page_has_the_whole_range_unless_told_otherwise(census, tmp_path):
    page = tmp_path / "page.html"
    whole = compared(census, attacks=True).attacks
    assert compared(census, report=page).attacks.to_arrow() == whole.to_arrow()
    assert whole.sentences()[1] in page.read_text(encoding="utf-8")
    alone = compared(census, report=page, replace=True, attacks=False).attacks
    assert [str(step) for step in alone.fractions] == ["1/2"]


def test_attacks_cannot_be_left_out_and_asked_for(census):
    with pytest.raises(InputError) as caught:
        compared(census, attacks=False, attack_fractions=("5%",))
    assert "--no-attacks" in str(caught.value)


def households(tmp_path, name, *, each):
    """Write a file in which people have one to three records, or the first of each."""
    rng = np.random.default_rng(5)
    people = rng.integers(1, [40, 5, 9], (120, 3))
    lines, seen = ["who,age,job,region"], set()
    for who in rng.permutation(np.repeat(np.arange(120), rng.integers(1, 4, 120))).tolist():
        if not each or who not in seen:
            seen.add(who)
            lines.append(f"p{who}," + ",".join(map(str, people[who].tolist())))
    return write(tmp_path, name, "\n".join(lines) + "\n"), len(lines) - 1


def inferred_of(file, **more):
    asked = InferRequest(
        microdata=MicrodataRequest(file=file, keys=("age", "job", "region")),
        design=SampleDesign(fraction="5%"),
        fit=FitOptions(method="annealing"),
        **more,
    )
    return infer_release(asked).found.risk


def test_people_of_a_file_are_those_of_a_file_with_one_record_of_each(tmp_path):
    file, n_records = households(tmp_path, "records.csv", each=False)
    first, n_people = households(tmp_path, "people.csv", each=True)
    found, alone = inferred_of(file, person="WHO"), inferred_of(first, person="who")
    assert n_people == 120 < n_records
    assert found.estimate.file == alone.estimate.file
    assert found.file.summary() == alone.file.summary()
    told = " ".join(found.sentences())
    assert (
        f"One record of each of 120 people was counted, the first in the file by 'who'; {n_records - 120}"
        in told
    )
    assert "The sampling fraction is taken as one of people." in told
    assert "People, one record of each: 120." in " ".join(line.meaning for line in found.file.lines)
    assert found.provenance.parameters["person"] == "who"
    # Whoever is left out has no risk of their own in the list of records.
    assert found.records.table.num_rows == n_records
    assert found.records.table["p_match"].null_count == n_records - 120
    # That nobody has several records is then known, and not allowed for.
    open_question = inferred_of(first)
    assert "--person" in " ".join(open_question.sentences())
    assert "--person" not in told
    assert found.estimate.calibration.repeats.possible == 0
    assert open_question.estimate.calibration.repeats.possible > 0


def test_people_are_not_set_against_the_records_of_a_population(tmp_path):
    file, _ = households(tmp_path, "records.csv", each=False)
    with pytest.raises(InputError) as caught:
        inferred_of(file, person="who", population=file)
    assert "--population" in str(caught.value)
    with pytest.raises(InputError):
        inferred_of(file, person="whose")


FEW_KEYS = ("Age", "Sex")


@pytest.fixture
def notional(census):
    return replace(census, keys=FEW_KEYS)


def population(notional):
    return gk.code_source(gk.open_source(notional.file), [*FEW_KEYS, "Region"])


def asked(kind, *fractions, **more):
    """Return a request but for its file."""
    return {"experiment": kind, "fractions": fractions, "workers": 1, **more}


def run(notional, request, *, progress=None, **more):
    return run_simulation(
        SimulateRequest(microdata=notional, **request, **more), progress=progress
    ).found


def test_strategies(notional):
    request = asked(ExperimentKind.STRATEGIES, "1/4", samples=3, r=2, seed=5)
    expected = gk.risk.strategy_experiment(
        population(notional), FEW_KEYS, fraction="1/4", samples=3, r=2, seed=5
    )
    found = run(notional, request)
    assert found.to_arrow() == expected.to_arrow()
    assert found.sentences() == expected.sentences()


def test_fractions(notional):
    request = asked(ExperimentKind.FRACTIONS, "10%", "1/2", stratify_by=("Region",))
    expected = gk.risk.fraction_experiment(
        population(notional),
        FEW_KEYS,
        fractions=["10%", "1/2"],
        stratify_by=["Region"],
    )
    assert run(notional, request).to_arrow() == expected.to_arrow()


def test_the_pilot(notional):
    request = asked(ExperimentKind.PILOT, "1/4", samples=2, max_size=1)
    expected = gk.risk.pilot_study(
        population(notional), FEW_KEYS, fraction="1/4", samples=2, max_size=1
    )
    assert run(notional, request).to_arrow() == expected.to_arrow()


def test_measures(notional):
    request = asked(ExperimentKind.MEASURES, "1/4", samples=2, measures=("dis", "strategies"), r=2)
    expected = gk.risk.simulate(
        population(notional),
        FEW_KEYS,
        fractions="1/4",
        samples=2,
        measures=["dis", "strategies"],
        r=[2],
    )
    found = run(notional, request)
    assert found.to_arrow() == expected.to_arrow()
    # Of strategies 6 and 7 only the size that was asked for.
    of_sizes = {name.partition(".")[0] for name in found.measures if "_r" in name}
    assert of_sizes == {"strategy_6_r2", "strategy_7_r2"}


def test_what_is_left_out_is_as_the_experiment_has_it(notional):
    found = run(notional, asked(ExperimentKind.STRATEGIES, samples=1))
    assert found.provenance.parameters["fractions"] == "3/100"


def test_files_are_written_and_samples_kept(notional, tmp_path):
    folder, plot, output = tmp_path / "kept", tmp_path / "plot.svg", tmp_path / "numbers.csv"
    request = asked(ExperimentKind.FRACTIONS, "1/4", "1/2", folder=folder)
    told = []
    first = run(notional, request, plot=plot, output=output)
    again = run(notional, request, progress=lambda done, total: told.append((done, total)))
    assert first.to_arrow() == again.to_arrow()
    # Nothing was left to do: the first call of progress has everything done.
    assert told[0] == (2, 2)
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert pyarrow.csv.read_csv(output).num_rows == first.to_arrow().num_rows


@pytest.mark.parametrize(
    ("request_", "reason", "named"),
    [
        (asked(ExperimentKind.STRATEGIES, "1/4", "1/2"), Reason.BAD_OPTION, ["--fraction"]),
        (asked(ExperimentKind.STRATEGIES, max_size=2), Reason.BAD_OPTION, ["--max-size"]),
        (asked(ExperimentKind.FRACTIONS, r=2), Reason.BAD_OPTION, ["--r"]),
        (asked(ExperimentKind.PILOT, with_models=True), Reason.BAD_OPTION, ["--with-models"]),
        (
            asked(ExperimentKind.PILOT, "1/4", "1/2", r=2, measures=("dis",)),
            Reason.BAD_OPTION,
            ["--measure", "--r", "--fraction"],
        ),
        (asked(ExperimentKind.MEASURES), Reason.NOTHING_GIVEN, ["--fraction"]),
    ],
)
def test_options_of_other_experiments_are_refused(notional, request_, reason, named):
    with pytest.raises(InputError) as caught:
        run(notional, request_)
    assert caught.value.reason is reason
    assert [problem.where for problem in caught.value.problems] == named


@pytest.mark.parametrize("fraction", ["0", "3/2", "many", "1/1000"])
def test_fractions_that_cannot_be_drawn(notional, fraction):
    with pytest.raises(InputError) as caught:
        run(notional, asked(ExperimentKind.FRACTIONS, fraction))
    assert caught.value.reason is Reason.BAD_OPTION


def test_all_missing_and_too_many_keys_are_refused(tmp_path):
    many = [f"v{number}" for number in range(65)]
    lines = [",".join(many), ",".join(["", *["1"] * 64]), ",".join(["", *["2"] * 64])]
    file = write(tmp_path, "wide.csv", "\n".join(lines) + "\n")
    with pytest.raises(InputError) as caught:
        run(MicrodataRequest(file=file, keys=many), asked(ExperimentKind.FRACTIONS, "1"))
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.TOO_LARGE,
        Reason.BAD_OPTION,
    ]
    assert "'v0': all of its 2 cells are missing" in str(caught.value)


def test_the_population_is_never_replaced(notional):
    before = notional.file.read_bytes()
    with pytest.raises(InputError, match="would be replaced"):
        run(notional, asked(ExperimentKind.FRACTIONS), output=notional.file)
    assert notional.file.read_bytes() == before
