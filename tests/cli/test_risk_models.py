"""`gamekeeper risk model`, `infer` and `compare`: what people and programs read."""

from __future__ import annotations

import csv
import json
import signal

import pytest

import gamekeeper as gk
from gamekeeper.workbench import models
from tests.given.microdata import KEYS, write

ALL = ",".join(KEYS)
QUICK = ("--method", "annealing", "--chains", "1", "--workers", "1")


def test_models_are_the_same_in_python_and_at_the_prompt(run, people):
    told = run("risk", "model", people, "-k", ALL, *QUICK, "--format", "json")
    assert told.exit_code == 0
    keys = gk.count_keys(gk.code_source(gk.open_source(people), KEYS), KEYS)
    fit = gk.fit_models(keys, method="annealing", chains=1, workers=1)
    document = json.loads(told.out)
    assert [row["probability"] for row in document["rows"]] == pytest.approx(
        fit.to_arrow()["probability"].to_pylist()
    )
    assert document["summary"]["best_log_marginal_likelihood"] == pytest.approx(
        fit.search.best_score
    )


def test_of_very_many_edges_the_most_probable_are_shown(run, tmp_path):
    names = [f"v{number}" for number in range(18)]
    rows = [[str(record >> bit & 1) for bit in range(18)] for record in range(0, 2**18, 9_001)]
    lines = [",".join(names), *(",".join(row) for row in rows)]
    many = write(tmp_path, "many.csv", "\n".join(lines) + "\n")
    told = run("risk", "model", many, "-k", ",".join(names), *QUICK)
    assert told.exit_code == 0
    assert "The 120 most probable of 153 pairs" in told.out
    everything = run("risk", "model", many, "-k", ",".join(names), *QUICK, "--format", "csv")
    assert len(everything.out.splitlines()) == 154


def test_a_model_is_told_and_drawn(run, people, tmp_path):
    picture = tmp_path / "model.svg"
    told = run("risk", "model", people, "-k", ALL, *QUICK, "--plot", picture)
    assert told.exit_code == 0
    assert "log marginal likelihood" in told.out
    assert "missing is a category" in told.out
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_risk_is_inferred_for_every_record(run, people, everybody, tmp_path):
    records = tmp_path / "risk.csv"
    told = run(
        "risk", "infer", people, "-k", ALL, "-f", "1/3", *QUICK, "--population", everybody,
        "--records", records, "--categories", "Sex", "--known", "Sex=f", "--ask", "Status",
    )  # fmt: skip
    assert told.exit_code == 0, told.err
    with records.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert all(0 <= float(row["p_match"]) <= 1 for row in rows)
    for word in ("What each variable adds", "What each category of Sex adds", "keys with the"):
        assert word in told.out
    assert "Most probable" in told.out


@pytest.mark.slow
def test_measures_are_compared_on_a_population(run, everybody, tmp_path):
    page = tmp_path / "compare.html"
    told = run(
        "risk", "compare", everybody, "-k", ALL, "-f", "50%", "--measure", "is", "--measure",
        "annealing", "--workers", "1", "--attack-fraction", "25%", "--report", page,
    )  # fmt: skip
    assert told.exit_code == 0, told.err
    assert "AUC" in told.out
    assert "2 samples of 25% to 50% were attacked" in told.out
    assert "Logit rank plot" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_attacks_are_the_same_in_python_at_the_prompt_and_on_the_page(run, everybody, tmp_path):
    page = tmp_path / "compare.html"
    told = run(
        "risk", "compare", everybody, "-k", ALL, "-f", "50%", "--measure", "suda", "--measure",
        "dis_is", "--workers", "1", "--attack-samples", "2", "--seed", "4", "--report", page,
        "--format", "json",
    )  # fmt: skip
    assert told.exit_code == 0, told.err
    coded = gk.code_source(gk.open_source(everybody), KEYS)
    found = gk.risk.compare_measures(
        coded, KEYS, fractions=["50%"], measures=["suda", "dis_is"], attack_fractions=None,
        attack_samples=2, seed=4,
    )  # fmt: skip
    document = json.loads(told.out)
    assert document["parts"]["attacks"]["rows"] == found.attacks.to_arrow().to_pylist()
    assert [row["auc"] for row in document["rows"]] == pytest.approx(
        found.to_arrow()["auc"].to_pylist()
    )
    told_words = [*found.attacks.sentences(), *found.attacks.notices()]
    assert document["parts"]["attacks"]["sentences"] == told_words
    shown = page.read_text(encoding="utf-8")
    for sentence in told_words:
        assert sentence in shown
    for row in document["parts"]["attacks"]["rows"]:
        for part in ("pr_cm", "cost", "keys"):
            assert row[part] is None or f'data-value="{float(row[part])!r}"' in shown


def test_without_a_report_attacks_are_tried_where_measures_are_judged(run, everybody):
    options = ("-k", ALL, "-f", "50%", "--measure", "is", "--workers", "1", "--format", "json")
    plain = json.loads(run("risk", "compare", everybody, *options).out)
    assert {row["fraction"] for row in plain["parts"]["attacks"]["rows"]} == {0.5}
    whole = json.loads(run("risk", "compare", everybody, *options, "--attacks").out)
    assert len({row["fraction"] for row in whole["parts"]["attacks"]["rows"]}) > 3
    assert whole["rows"] == plain["rows"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("infer", "-k", ALL), "nothing-given"),
        (("infer", "-k", ALL, "-f", "2"), "bad-option"),
        (("infer", "-k", ALL, "-f", "2%", "--known", "Sex"), "bad-option"),
        (
            ("infer", "-k", ALL, "-f", "2%", "--known", "Sex=no such", "--ask", "Age"),
            "unknown-name",
        ),
        (("infer", "-k", ALL, "-f", "2%", "--categories", "Sexx"), "unknown-name"),
        (("infer", "-k", ALL, "-f", "2%", "--known", "Sex=f"), "nothing-given"),
        (("infer", "-k", ALL, "-f", "2%", "--ask", "Agee"), "unknown-name"),
        (("model", "-k", ALL, "--method", "occam", "--window", "1"), "bad-option"),
        (("model", "-k", ALL, "--missing", "wildcard"), "bad-option"),
        (("compare", "-k", ALL, "--measure", "sudaa"), "unknown-name"),
        (("compare", "-k", ALL, "--attack-fraction", "2"), "bad-option"),
        (("compare", "-k", ALL, "--no-attacks", "--attack-fraction", "5%"), "bad-option"),
    ],
)
def test_bad_input_is_one_clear_error(run, people, options, reason):
    command, *rest = options
    more = [] if "--method" in rest else list(QUICK[:2])
    more = [*more, *QUICK[2:]] if command != "compare" else ["--workers", "1"]
    told = run("risk", command, people, *rest, *more)
    assert told.exit_code == 2
    assert f"[{reason}]" in told.err
    assert told.out == ""
    assert "widowed" not in told.err


@pytest.mark.parametrize(
    "wrong", [("--ask", "Agee"), ("--known", "Sex=f"), ("--categories", "Sexx"), ("-f", "")]
)
def test_nobody_waits_for_a_search_to_be_told_of_a_slip(run, people, wrong, monkeypatch):
    def searched(*_arguments, **_options):
        raise AssertionError("models were searched")

    monkeypatch.setattr("gamekeeper.workbench.models.fit_models", searched)
    told = run("risk", "infer", people, "-k", ALL, "-f", "2%", *wrong)
    assert told.exit_code == 2, told.err


def test_options_of_searches_reach_them(run, people):
    options = ("--sweeps", "600", "--chains", "2", "--precision", "1", "--format", "json")
    told = run("risk", "model", people, "-k", ALL, *options)
    assert json.loads(told.out)["provenance"]["parameters"]["most_sweeps"] == "600"
    options = ("--method", "occam", "--window", "3", "--precision", "1", "--format", "json")
    told = run("risk", "model", people, "-k", ALL, *options)
    assert json.loads(told.out)["provenance"]["parameters"]["window"] == "3"


def test_interrupting_a_search_keeps_what_it_found(run, people, monkeypatch):
    fitted = models.fit_models

    def interrupted(*arguments, progress, **options):
        def told(done, total):
            if done:
                signal.raise_signal(signal.SIGINT)
            progress(done, total)

        return fitted(*arguments, progress=told, **options)

    monkeypatch.setattr(models, "fit_models", interrupted)
    before = signal.getsignal(signal.SIGINT)
    told = run("risk", "model", people, "-k", ALL, "--chains", "2", "--workers", "1")
    assert told.exit_code == 0, told.err
    assert "The search was cancelled; these are the models that it had found by then" in told.out
    assert signal.getsignal(signal.SIGINT) is before
