"""The intruder with models on a file: one record of each person; comparisons, with attacks."""

from __future__ import annotations

import pytest

import gamekeeper as gk
from gamekeeper.attack.models.options import FitOptions
from gamekeeper.errors import InputError
from gamekeeper.workbench.models import compare_on_population, infer_release
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.models import CompareRequest, InferRequest
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
    import numpy as np

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
