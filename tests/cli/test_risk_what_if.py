"""`--recode` on every risk command: before and after side by side, and nothing is written."""

from __future__ import annotations

import json

import pytest

from tests.given.microdata import OTHERS, PEOPLE, write

KEYS = ("-k", "Age,Sex,Status", "--recode", "Age=0-40, 41+")
QUICK = ("--method", "annealing", "--chains", "1", "--workers", "1")
COMMANDS = {
    "keys": (),
    "measures": (),
    "dis": ("-f", "10%"),
    "suda": ("--workers", "1"),
    "special": ("--rounds", "2"),
    "match": ("-f", "10%"),
    "model": QUICK,
    "infer": (*QUICK, "-f", "20%"),
    "compare": ("--fraction", "50%", "--measure", "is", "--samples", "1", "--workers", "1"),
    "simulate": ("--fraction", "50%", "--samples", "2", "--workers", "1"),
}
TOLD = "'Age': 4 categories become 2 (0-40, 41+)."


@pytest.fixture
def people(tmp_path):
    return write(tmp_path, "people.csv", PEOPLE + "".join(OTHERS))


def alone(people, coarse):
    """Count the records that are alone, the slow and obvious way."""
    keys = []
    for line in people.read_text().splitlines()[1:]:
        age, sex, status, *_ = line.split(",")
        keys.append((int(age) > 40 if coarse else age, sex, status))
    return sum(keys.count(key) == 1 for key in keys), len(set(keys))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_risk_command_says_what_a_recoding_would_do(run, people, name):
    content = people.read_bytes()
    asked = ("risk", name, people, *KEYS, *COMMANDS[name])
    told = run(*asked)
    assert told.exit_code == 0, told.err
    (before, keys_before), (after, keys_after) = alone(people, False), alone(people, True)
    assert TOLD in told.out
    assert f"unique instead of {before:,}." in told.out
    assert told.out.index(TOLD) < told.out.index("After recoding:")
    document = json.loads(run(*asked, "--format", "json").out)
    rows = {row["measure"]: row for row in document["parts"]["what_if"]["rows"]}
    assert (rows["sample_uniques"]["before"], rows["sample_uniques"]["after"]) == (before, after)
    found = (rows["different_keys"]["before"], rows["different_keys"]["after"])
    assert found == (keys_before, keys_after)
    assert TOLD in document["parts"]["what_if"]["sentences"]
    # Nothing but the file is there, and it is as it was.
    assert [path.name for path in people.parent.iterdir()] == ["people.csv"]
    assert people.read_bytes() == content


@pytest.mark.parametrize("name", COMMANDS)
def test_a_recoding_that_fits_nothing_is_one_error(run, people, name):
    told = run("risk", name, people, *KEYS[:2], *COMMANDS[name], "--recode", "Sex=x: q | f")
    assert told.exit_code == 2
    assert "recode of 'Sex'" in told.err
    assert "--values" in told.err
