"""Releases from the prompt: perturbation by a recipe, other formats, and what nobody looked at."""

from __future__ import annotations

import csv
import json
import re
from hashlib import sha256
from html import unescape
from itertools import pairwise

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


@pytest.mark.slow
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


@pytest.fixture
def homes(tmp_path):
    """A file as censuses have it: the members of a household stand beside each other."""
    rng, path = np.random.default_rng(5), tmp_path / "homes.csv"
    rows = [
        [str(home), str(rng.integers(20, 26)), "fm"[rng.integers(0, 2)], str(home * 10 + place)]
        for home in range(60)
        for place in range(rng.integers(2, 5))
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["home", "age", "sex", "mark"], *rows])
    return path


KEYS = ("--keys", "age,sex")
NOT_ATTACKED = "Whole households were not attacked (not examined)"


@pytest.fixture
def homely(run, tmp_path, homes):
    path = tmp_path / "homely.json"
    done = run("protect", "try", homes, *KEYS, "--household", "home", "-t", "both>=3", "--method",
               "suppress", "--seed", "7", "--recipe", path, "--study", tmp_path / "homes.gkp")  # fmt: skip
    assert done.exit_code == 0, done.err
    assert NOT_ATTACKED in " ".join(done.out.split())
    assert "Recipe (as confidential as the file)" in done.out
    return path


def marks(path):
    with path.open(newline="") as file:
        return [row["mark"] for row in csv.DictReader(file)]


def pairs_at_home(found):
    """Return how many who stand beside each other are of one household: what an intruder goes by."""
    return sum(a[:-1] == b[:-1] for a, b in pairwise(found))


@pytest.mark.slow
def test_a_release_is_shuffled_unless_its_order_is_kept(run, tmp_path, homes, homely):
    def released(name, *options, recipe=homely, file=homes):
        path = tmp_path / name
        done = run("protect", "replay", recipe, file, "-o", path, "--leave-out", "home", *options)
        assert done.exit_code == 0, done.err
        return path, " ".join((done.out + done.err).split())

    original = marks(homes)
    kept, said = released("kept.csv", "--keep-order")
    assert marks(kept) == original
    assert "who stands beside whom tells of households and addresses" in said
    assert "shuffled: whoever has the recipe" not in said
    one, said = released("one.csv")
    assert "The records of the release are shuffled" in said
    assert "--keep-order" not in said
    assert sorted(marks(one)) == sorted(original)
    # Of some 180 pairs two in three are at home in the original; by lot about two of all.
    assert pairs_at_home(original) > 90
    assert pairs_at_home(marks(one)) < 12
    assert released("two.csv")[0].read_bytes() == one.read_bytes()

    content = json.loads(homely.read_text())
    del content["checksum"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**content, "seed": 8}))
    orders = {tuple(marks(one)), tuple(marks(released("seed.csv", recipe=other)[0]))}
    # Neither the seed alone nor the number of records tells the order: another release of the same
    # people, or the same recipe for a file that differs in one cell, is in another one.
    changed = tmp_path / "changed.csv"
    changed.write_text(homes.read_text().replace("\r\n3,", "\r\n300,", 1))
    orders |= {tuple(marks(released("less.csv", "--leave-out", "sex")[0]))}
    orders |= {tuple(marks(released("changed.out.csv", file=changed)[0]))}
    assert len(orders) == 4


@pytest.mark.slow
def test_whose_the_records_are_is_asked_and_not_guessed(run, tmp_path, homes, homely):
    release, used = tmp_path / "out.csv", tmp_path / "used.json"
    done = run("protect", "apply", homely, homes, "-o", release, "--recipe", used, "--public-recipe",
               tmp_path / "outside.json")  # fmt: skip
    assert done.exit_code == 0, done.err
    outside = json.loads((tmp_path / "outside.json").read_text())
    assert "seed" not in outside
    assert set(outside["output"]) == {"sha256"}

    def audited(*options, file=homes):
        asked = ("protect", "audit", file, release, *KEYS, *options, "--format", "json")
        return run(*asked)

    unasked = audited()
    assert (unasked.exit_code, unasked.out) == (2, "")
    assert "[nothing-given]" in unasked.err
    assert "--same-order" in unasked.err
    for twice in (("--unlinked", "--same-order"), ("--id", "mark", "--recipe", used)):
        assert "in several ways" in audited(*twice).err
    by_name, by_recipe = (
        json.loads(audited(*options).out) for options in (("--id", "mark"), ("--recipe", used))
    )
    assert by_name["rows"] == by_recipe["rows"]
    assert by_name["parts"]["masked"] == by_recipe["parts"]["masked"]
    assert [each["changed"] for each in by_recipe["parts"]["masked"]["rows"]] == [0, 0]
    # Taken row for row it would look as if values had been changed, and nobody were found.
    by_order = json.loads(audited("--same-order").out)
    assert sum(each["changed"] for each in by_order["parts"]["masked"]["rows"]) > 100

    assert "does not say in which order" in audited("--recipe", homely).err
    with release.open("a") as file:
        file.write("\n")
    assert "written with another release" in audited("--recipe", used).err
    other = tmp_path / "other.csv"
    other.write_text(homes.read_text().replace(",f,", ",m,", 1))
    assert "another original" in audited("--recipe", used, file=other).err


def test_the_recipe_tells_of_an_order_that_was_kept_and_not_of_a_sample(run, tmp_path, homes):
    def audited(name, *options, **more):
        recipe, used, release = (
            tmp_path / f"{name}{end}" for end in (".json", ".used.json", ".csv")
        )
        recipe.write_text(json.dumps({"recipe": 1, "keys": ["age", "sex"], "seed": 4, **more}))
        done = run("protect", "replay", recipe, homes, "-o", release, "--recipe", used, *options)
        assert done.exit_code == 0, done.err
        return run("protect", "audit", homes, release, *KEYS, "--recipe", used)

    suppress = {"do": "suppress", "criterion": "both", "k": 2}
    kept = audited("kept", "--keep-order", steps=[suppress])
    assert kept.exit_code == 0, kept.err
    assert "cells changed" not in kept.out
    sample = audited("sample", steps=[{"do": "sample", "fraction": 0.5}, suppress])
    assert "Some records were left out" in sample.err


@pytest.mark.slow
def test_results_with_households_say_what_was_not_attacked(run, tmp_path, homes, homely):
    page, release = tmp_path / "page.html", tmp_path / "out.csv"
    home = ("--household", "home")
    asked = {
        "try": ("protect", "try", homes, *KEYS, *home, "-t", "both>=3", "--method", "suppress"),
        "map": ("protect", "map", tmp_path / "homes.gkp"),
        "apply": ("protect", "apply", homely, homes, "-o", release, "--report", page),
        "replay": ("protect", "replay", homely, homes, "--report", page),
        "audit": ("protect", "audit", homes, homes, *KEYS, *home, "--same-order", "--report", page),
        "assess": ("assess", homes, *KEYS, *home, "--report", page),
        "infer": ("risk", "infer", homes, *KEYS, *home, "--fraction", "10%"),
        "measures": ("risk", "measures", homes, *KEYS, *home, "--fraction", "10%"),
    }  # fmt: skip
    for name, command in asked.items():
        done = run(*command, "--replace")
        assert done.exit_code == 0, done.err
        assert NOT_ATTACKED in " ".join(done.out.split()), name
        made = run(*command, "--replace", "--format", "json").out
        assert NOT_ATTACKED in made, name
        if name in ("apply", "replay", "audit"):
            assert json.loads(made)["summary"]["whole_households"] == "not examined", name
        if "--report" in command:
            assert "Whole households were not attacked" in page.read_text(), name
            page.unlink()
    for name in ("try", "audit", "assess"):
        without = [each for each in asked[name] if each not in home]
        assert "households were not" not in run(*without, "--replace").out, name


def test_a_candidate_of_households_that_is_chosen_says_so(run, tmp_path, homes):
    study = tmp_path / "homes.gkp"
    done = run("protect", "try", homes, *KEYS, "--household", "home", "-t", "both>=3", "--method",
               "suppress", "--study", study)  # fmt: skip
    assert done.exit_code == 0, done.err
    assert NOT_ATTACKED in " ".join(run("protect", "choose", study, 1).out.split())


def test_csv_has_no_sentences_and_tells_of_households_beside(run, homes):
    done = run("protect", "try", homes, *KEYS, "--household", "home", "-t", "both>=3", "--method",
               "suppress", "--format", "csv")  # fmt: skip
    assert done.exit_code == 0, done.err
    assert NOT_ATTACKED in " ".join(done.err.split())


def test_no_two_public_numbers_tell_how_many_cells_were_missing(run, tmp_path):
    """Added and subtracted, with what everybody can count in the release as well."""
    rng, n, missing = np.random.default_rng(2), 2000, {"u": 137, "v": 211, "w": 173}
    kinds = {"u": 15, "v": 15, "w": 5}
    frame = pd.DataFrame({name: rng.integers(0, kinds[name], n).astype(str) for name in missing})
    for name, number in missing.items():
        frame.loc[rng.permutation(n)[:number], name] = ""
    people, release = tmp_path / "gaps.csv", tmp_path / "out.csv"
    page, recipe, outside = (tmp_path / name for name in ("p.html", "r.json", "o.json"))
    frame.to_csv(people, index=False)
    done = run("protect", "try", people, "--keys", "u,v,w", "-t", "both>=4", "--method", "suppress",
               "--pin", "w", "--recipe", recipe, "--seed", "1")  # fmt: skip
    assert done.exit_code == 0, done.err
    done = run("protect", "apply", recipe, people, "-o", release, "--public", page,
               "--public-recipe", outside)  # fmt: skip
    assert done.exit_code == 0, done.err
    made = pd.read_csv(release, dtype=str, keep_default_na=False)
    empty = {name: int((made[name] == "").sum()) for name in missing}
    stars = {name: empty[name] - missing[name] for name in missing}
    assert stars["w"] == 0
    every = (*missing.values(), *stars.values(), sum(missing.values()), sum(stars.values()))
    # Small numbers are there for other reasons; and near to a number of empty cells, which everybody
    # counts, nobody knows that it is one of missing ones.
    private = {
        number
        for number in every
        if number > 100 and all(abs(number - count) > 5 for count in empty.values())
    }
    assert {missing["u"], stars["u"]} <= private
    told = page.read_text()
    told = re.sub(r"<(style|script|svg).*?</\1>", " ", told, flags=re.DOTALL)
    told = unescape(re.sub(r"<[^>]+>", " ", told)) + outside.read_text()
    # The digits of checksums, of what is public itself, are no numbers.
    for made_of in (
        sha256(release.read_bytes()).hexdigest(),
        json.loads(outside.read_text())["checksum"],
    ):
        told = told.replace(made_of, "")
    public = {
        float(text.replace(",", "")) for text in re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?", told)
    }
    shares = {float(text) / 100 * n for text in re.findall(r"([0-9.]+)%", told)}
    known = {*public, *shares, *empty.values(), sum(empty.values()), 0.0}
    assert known >= set(empty.values())
    for one in known:
        for other in known:
            for found in (one + other, one - other):
                # Half a digit of a share is one cell.
                assert all(abs(found - number) > 1 for number in private), (one, other)
    assert "w" in json.loads(outside.read_text())["keys"]
    assert "pinned" not in outside.read_text()
