"""Experiments on a file as a notional population: the library's own, with options that fit."""

from __future__ import annotations

import pyarrow.csv
import pytest

import gamekeeper as gk
from gamekeeper.errors import InputError, Reason
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.requests.simulation import ExperimentKind, SimulateRequest
from gamekeeper.workbench.simulation import run_simulation
from tests.given.microdata import OTHERS, PEOPLE, write

KEYS = ("Age", "Sex")


@pytest.fixture
def census(tmp_path):
    return MicrodataRequest(file=write(tmp_path, "census.csv", PEOPLE + "".join(OTHERS)), keys=KEYS)


def population(census):
    return gk.code_source(gk.open_source(census.file), [*KEYS, "Region"])


def asked(kind, *fractions, **more):
    """Return a request but for its file."""
    return {"experiment": kind, "fractions": fractions, "workers": 1, **more}


def run(census, request, *, progress=None, **more):
    return run_simulation(
        SimulateRequest(microdata=census, **request, **more), progress=progress
    ).found


def test_strategies(census):
    request = asked(ExperimentKind.STRATEGIES, "1/4", samples=3, r=2, seed=5)
    expected = gk.risk.strategy_experiment(
        population(census), KEYS, fraction="1/4", samples=3, r=2, seed=5
    )
    found = run(census, request)
    assert found.to_arrow() == expected.to_arrow()
    assert found.sentences() == expected.sentences()


def test_fractions(census):
    request = asked(ExperimentKind.FRACTIONS, "10%", "1/2", stratify_by=("Region",))
    expected = gk.risk.fraction_experiment(
        population(census), KEYS, fractions=["10%", "1/2"], stratify_by=["Region"]
    )
    assert run(census, request).to_arrow() == expected.to_arrow()


def test_the_pilot(census):
    request = asked(ExperimentKind.PILOT, "1/4", samples=2, max_size=1)
    expected = gk.risk.pilot_study(population(census), KEYS, fraction="1/4", samples=2, max_size=1)
    assert run(census, request).to_arrow() == expected.to_arrow()


def test_measures(census):
    request = asked(ExperimentKind.MEASURES, "1/4", samples=2, measures=("dis", "strategies"), r=2)
    expected = gk.risk.simulate(
        population(census), KEYS, fractions="1/4", samples=2, measures=["dis", "strategies"], r=[2]
    )
    found = run(census, request)
    assert found.to_arrow() == expected.to_arrow()
    # Of strategies 6 and 7 only the size that was asked for.
    of_sizes = {name.partition(".")[0] for name in found.measures if "_r" in name}
    assert of_sizes == {"strategy_6_r2", "strategy_7_r2"}


def test_what_is_left_out_is_as_the_experiment_has_it(census):
    found = run(census, asked(ExperimentKind.STRATEGIES, samples=1))
    assert found.provenance.parameters["fractions"] == "3/100"


def test_files_are_written_and_samples_kept(census, tmp_path):
    folder, plot, output = tmp_path / "kept", tmp_path / "plot.svg", tmp_path / "numbers.csv"
    request = asked(ExperimentKind.FRACTIONS, "1/4", "1/2", folder=folder)
    told = []
    first = run(census, request, plot=plot, output=output)
    again = run(census, request, progress=lambda done, total: told.append((done, total)))
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
def test_options_of_other_experiments_are_refused(census, request_, reason, named):
    with pytest.raises(InputError) as caught:
        run(census, request_)
    assert caught.value.reason is reason
    assert [problem.where for problem in caught.value.problems] == named


@pytest.mark.parametrize("fraction", ["0", "3/2", "many", "1/1000"])
def test_fractions_that_cannot_be_drawn(census, fraction):
    with pytest.raises(InputError) as caught:
        run(census, asked(ExperimentKind.FRACTIONS, fraction))
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


def test_the_population_is_never_replaced(census):
    before = census.file.read_bytes()
    with pytest.raises(InputError, match="would be replaced"):
        run(census, asked(ExperimentKind.FRACTIONS), output=census.file)
    assert census.file.read_bytes() == before
