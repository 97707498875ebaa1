"""Releases from the prompt: perturbation by a recipe, other formats, and what nobody looked at."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyreadstat
import pytest

STEPS = [
    {"do": "pram", "variables": ["job"], "exact_counts": True},
    {"do": "microaggregate", "variables": ["income"], "k": 5},
    {"do": "suppress", "criterion": "both", "k": 2},
]


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(3)
    n = 150
    frame = pd.DataFrame(
        {
            "pid": np.arange(n).astype(float),
            "age": rng.integers(18, 40, n).astype(float),
            "job": rng.choice([1.0, 2.0, 3.0, 99.0], n, p=[0.5, 0.3, 0.15, 0.05]),
            "income": rng.lognormal(7, 0.6, n).round(),
            "name": [f"p{number}" for number in range(n)],
        }
    )
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        frame, str(path), missing_ranges={"job": [99]},
        variable_value_labels={"job": {1.0: "farm", 2.0: "office", 3.0: "shop", 99.0: "refused"}},
    )  # fmt: skip
    return path


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "recipe.json"
    content = {"recipe": 1, "keys": ["age", "job"], "missing": "category", "identifier": "pid",
               "seed": 4, "steps": STEPS, "targets": []}  # fmt: skip
    path.write_text(json.dumps(content))
    return path


def test_spss_in_spss_out_and_the_same_bytes(run, tmp_path, people, recipe):
    made = []
    for name in ("one.sav", "two.sav"):
        done = run("protect", "apply", recipe, people, "-o", tmp_path / name, "--leave-out",
                   "pid,name", "--suppressed", "user missing", "--code", "-8")  # fmt: skip
        assert done.exit_code == 0, done.err
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    new, meta = pyreadstat.read_sav(str(tmp_path / "one.sav"), user_missing=True)
    old, _ = pyreadstat.read_sav(str(people), user_missing=True)
    assert list(new.columns) == ["age", "job", "income"]
    assert meta.variable_value_labels["job"][1.0] == "farm"
    assert -8.0 in set(new["age"])
    assert meta.variable_value_labels["age"] == {-8.0: "suppressed"}
    # A group of five records has one mean.
    assert new["income"].value_counts().min() >= 5
    assert new["income"].sum() == pytest.approx(old["income"].sum(), rel=0.01)


@pytest.mark.slow
def test_columns_that_nobody_looked_at_are_named(run, tmp_path, people, recipe):
    page = tmp_path / "internal.html"
    done = run("protect", "apply", recipe, people, "-o", tmp_path / "out.csv", "--report", page)
    said = " ".join((done.out + done.err).split())
    assert "'pid' is released as in the original" in said
    assert "no attack looked at it: 'name'" in said
    assert "no attack looked at it" in page.read_text()
    done = run("protect", "apply", recipe, people, "-o", tmp_path / "two.csv", "--leave-out",
               "name,pid")  # fmt: skip
    assert "released as in the original" not in done.out + done.err


def test_a_code_that_is_a_value_is_refused_and_nothing_is_written(run, tmp_path, people, recipe):
    done = run("protect", "apply", recipe, people, "-o", tmp_path / "out.sav", "--suppressed",
               "code", "--code", "25")  # fmt: skip
    assert done.exit_code == 2
    assert "Other cells of the column have it already" in " ".join(done.err.split())
    assert not (tmp_path / "out.sav").exists()


def test_bands_of_a_number_are_in_order_and_no_amounts(run, tmp_path):
    frame = pd.DataFrame({"age": np.arange(60.0) % 30 + 20, "sex": np.arange(60.0) % 2})
    people, recipe = tmp_path / "aged.sav", tmp_path / "bands.json"
    pyreadstat.write_sav(frame, str(people), variable_measure={"age": "scale", "sex": "nominal"})
    content = {"recipe": 1, "keys": ["age", "sex"], "seed": 4, "targets": [],
               "steps": [{"do": "recode", "rules": ["age=width 10"]}]}  # fmt: skip
    recipe.write_text(json.dumps(content))
    done = run("protect", "apply", recipe, people, "-o", tmp_path / "out.sav")
    assert done.exit_code == 0, done.err
    _, meta = pyreadstat.read_sav(str(tmp_path / "out.sav"))
    assert meta.variable_measure == {"age": "ordinal", "sex": "nominal"}
    assert meta.variable_value_labels["age"] == {1.0: "20-29", 2.0: "30-39", 3.0: "40-49"}
