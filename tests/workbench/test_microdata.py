"""A file is opened as it was asked for, or one error says all that is wrong.

Values that no category is known for are listed, filled in and read back, and never shown.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pyreadstat
import pytest

from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.mapping.edits import RemoveCategory
from gamekeeper.prompt_syntax import Missing
from gamekeeper.workbench.environment.editing import edit_store, import_folder
from gamekeeper.workbench.microdata import open_microdata
from gamekeeper.workbench.requests.editing import Signature
from gamekeeper.workbench.requests.environment import ImportRequest, InStore
from gamekeeper.workbench.requests.records import (
    MicrodataRequest,
    SampleDesign,
)
from gamekeeper.workbench.requests.shared import Reading
from tests.given.microdata import KEYS, OF_SCENARIO, SCENARIO, write
from tests.workbench.conftest import SECRET, refused, words


def imported(folder, store):
    import_folder(ImportRequest(folder=folder, place=InStore(store=store)))


def test_only_what_is_needed_is_coded(people):
    data = open_microdata(
        people, design=SampleDesign(strata="Region", weight="w"), extra=["Status"]
    )
    assert data.keys == KEYS
    assert data.coded.codebook.names == (*KEYS, "Region")
    assert data.coded.numbers == ("w",)
    assert data.coded.number("w").sum() == 85
    assert data.coarser() == {}


def test_it_is_counted_as_asked(people):
    found = open_microdata(
        replace(people, missing=Missing.EXCLUDE),
        design=SampleDesign(weight="w", strata="Region"),
        sensitive=["Region"],
    )
    table = found.count()
    assert table.keys == KEYS
    assert (table.n_records, table.n_excluded, table.missing) == (11, 1, Missing.EXCLUDE)
    assert table.fractions == {"North": Fraction(1, 10), "South": Fraction(1, 5)}
    assert table.diversity["Region"] == {1: 5, 2: 6}


def test_a_column_may_have_a_comma_in_its_name(tmp_path):
    file = write(tmp_path, "comma.csv", '"Age, in years",Sex\n1,f\n2,m\n')
    data = open_microdata(MicrodataRequest(file=file, keys=["Age, in years", " Sex ,"]))
    assert data.keys == ("Age, in years", "Sex")


def test_values_can_be_read_as_missing(people):
    data = open_microdata(replace(people, reading=Reading(missing_values=["married", "71"])))
    assert words(data, "Status").count("missing") == 7
    assert words(data, "Age").count("missing") == 3


@pytest.mark.slow
def test_user_missing_codes_of_spss(tmp_path):
    file = tmp_path / "people.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0, 2.0, 9.0]}),
        str(file),
        variable_value_labels={"sex": {1.0: "female", 2.0: "male", 9.0: "refused"}},
        missing_ranges={"sex": [9.0]},
    )
    request = MicrodataRequest(file=file, keys=["sex"])
    assert words(open_microdata(request), "sex") == ["female", "male", "missing"]
    kept = open_microdata(replace(request, reading=Reading(keep_user_missing=True)))
    assert words(kept, "sex") == ["female", "male", "refused"]


@pytest.mark.parametrize(
    ("text", "overall", "of_strata"),
    [
        ("", None, None),
        (" 2% ", Fraction(1, 50), None),
        ("1/50", Fraction(1, 50), None),
        ("North=10%, South = 1/5", Fraction(12, 85), (Fraction(1, 10), Fraction(1, 5))),
    ],
)
def test_fractions_as_people_write_them(people, text, overall, of_strata):
    strata = "Region" if of_strata else ""
    table = open_microdata(people, design=SampleDesign(fraction=text, strata=strata)).count()
    assert table.fraction == overall
    assert (table.fractions and tuple(table.fractions.values())) == of_strata


def test_a_stratum_may_have_an_equals_sign(tmp_path):
    file = write(tmp_path, "odd.csv", "a,s\n1,x=y\n2,x=y\n")
    request = MicrodataRequest(file=file, keys=["a"])
    design = SampleDesign(strata="s", fraction="x=y=1/4")
    assert open_microdata(request, design=design).count().fraction == Fraction(1, 4)


def test_a_stratum_has_one_fraction(people):
    design = SampleDesign(strata="Region", fraction=f"{SECRET}=1%, South=2%, {SECRET}=3%")
    with pytest.raises(InputError) as caught:
        open_microdata(people, design=design).count()
    assert caught.value.reason is Reason.DUPLICATE
    assert "1 stratum is given more than once" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_scenario_recodes_to_its_categories(clerk):
    data = open_microdata(clerk, design=SampleDesign(weight="w"))
    assert set(data.keys) == {"Age", "Sex", "Marital status"}
    assert words(data, "Age") == ["0-15", "16-64", "16-64", "16-64", "16-64", "65+", "65+"]
    assert words(data, "Marital status") == [
        "single", "formerly married", "married", "married", "married", "formerly married",
        "formerly married",
    ]  # fmt: skip
    # At any level of detail values stay as they are.
    assert words(data, "Sex") == ["female"] * 3 + ["male"] * 3 + ["female"]
    table = data.count()
    assert (table.n_classes, table.n_uniques, table.n_paired) == (6, 5, 2)
    assert table.fraction == Fraction(7, 50)
    assert data.scenario is not None
    assert data.scenario.attacker == "Somebody at a bank"


def test_a_scenario_of_a_store(clerk, tmp_path):
    store = tmp_path / "world.gk"
    imported(clerk.environment, store)
    data = open_microdata(replace(clerk, environment=store))
    assert data.count().n_uniques == 5


def test_coarser_recodes_are_of_the_scenario_categories(clerk):
    data = open_microdata(clerk)
    coarser = data.coarser()
    assert {name: [item.words[1:] for item in made] for name, made in coarser.items()} == {
        "Age": [("0-15", "16+"), ("0+",)],
        "Marital status": [("any",)],
    }
    once = replace(data, coded=data.coded.recoded([coarser["Age"][0]]))
    assert words(once, "Age") == ["0-15", *["16+"] * 6]


def test_columns_can_be_named(clerk, tmp_path):
    text = OF_SCENARIO.replace("marital_status", "ms").replace("AGE", "years")
    request = replace(clerk, file=write(tmp_path, "other.csv", text))
    error = refused(request)
    assert error.reason is Reason.UNKNOWN_NAME
    assert [problem.where for problem in error.problems] == [
        "key variable 'Age'",
        "key variable 'Marital status'",
    ]
    named = replace(request, columns={"Age": "years", "Marital status": "ms"})
    assert open_microdata(named).count().n_uniques == 5
    wrong = refused(replace(request, columns={"Age": "yaers", "Marital status": "ms", "Job": "w"}))
    assert "Near to it: 'years'" in str(wrong)
    assert "'Job'" in str(wrong)


def test_keys_come_one_way(people, clerk):
    assert refused(replace(people, keys=())).reason is Reason.NOTHING_GIVEN
    error = refused(replace(people, scenario=SCENARIO))
    assert error.reason is Reason.BAD_OPTION
    assert [problem.where for problem in error.problems] == ["key variables", "environment"]
    for unfit in (
        {"environment": clerk.environment},
        {"columns": {"a": "b"}},
        {"values": clerk.file},
        {"unmapped": clerk.file},
    ):
        assert "no scenario is given" in str(refused(replace(people, **unfit)))


def test_scenarios_that_are_not_there(clerk, tmp_path):
    assert "Near to it: 'A clerk'" in str(refused(replace(clerk, scenario="A clark")))
    with pytest.raises(GamekeeperError) as caught:
        open_microdata(replace(clerk, environment=tmp_path / "nowhere"))
    assert caught.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("category", "reason"),
    [("formerly married", Reason.STALE), ("divorced", Reason.UNMAPPED_VALUES)],
)
def test_a_scenario_whose_categories_are_gone(clerk, tmp_path, category, reason):
    store = tmp_path / "world.gk"
    imported(clerk.environment, store)
    edit = RemoveCategory(variable="Marital status", category=category)
    edit_store(store, [edit], Signature(), unrestricted=True)
    error = refused(replace(clerk, environment=store))
    assert error.reason is reason
    assert "'Marital status'" in str(error)


def test_wrong_columns_are_told_together(people):
    wrong = replace(people, keys=("Aeg", "Sex"))
    error = refused(wrong, design=SampleDesign(strata="Rigion", weight="W8"), extra=["x"])
    assert error.reason is Reason.UNKNOWN_NAME
    assert len(error.problems) == 4
    assert "Near to it: 'Age'" in str(error)


def test_a_repr_shows_no_value(people):
    shown = repr(open_microdata(people, design=SampleDesign(weight="w")))
    assert "widowed" not in shown
    assert "12 records" in shown


@pytest.fixture
def unmapped(tmp_path, clerk):
    """A file with three values that the environment does not know, or knows only as coarser."""
    rows = f"16+,female,single,North,1\n8,female,{SECRET},North,1\n9,male,{SECRET},North,1\n"
    rows += f"9,male,{SECRET} 2,North,1\n"
    return replace(clerk, file=write(tmp_path, "unmapped.csv", OF_SCENARIO + rows))


def test_unmapped_values_are_counted_and_not_shown(unmapped):
    error = refused(unmapped)
    assert error.reason is Reason.UNMAPPED_VALUES
    assert [str(problem) for problem in error.problems] == [
        (
            "key variable 'Age': 1 value of the column 'AGE' in 1 record fit no category of C3.001,"
            " 1 of them too coarse for it."
        ),
        (
            "key variable 'Marital status': 2 values of the column 'marital_status' in 3 records"
            " fit no category of C3.001."
        ),
    ]
    assert "--unmapped" in error.do


def test_unmapped_values_are_listed_filled_in_and_read_back(unmapped, tmp_path):
    listed = tmp_path / "values.csv"
    error = refused(replace(unmapped, unmapped=listed))
    assert str(listed) in error.do
    with listed.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["variable"], row["value"], row["records"], row["category"]) for row in rows] == [
        ("Age", "16+", "1", ""),
        ("Marital status", SECRET, "2", ""),
        ("Marital status", f"{SECRET} 2", "1", ""),
    ]
    # Not filled in, they are as unmapped as before; and the list is never overwritten.
    before = listed.read_bytes()
    assert refused(replace(unmapped, values=listed)).reason is Reason.UNMAPPED_VALUES
    error = refused(replace(unmapped, unmapped=listed), StoreError)
    assert error.reason is Reason.NOT_WRITABLE
    assert listed.read_bytes() == before
    for row, category in zip(rows, ["16-64", "married", "divorced"], strict=True):
        row["category"] = category
    with listed.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    data = open_microdata(replace(unmapped, values=listed))
    assert words(data, "Age")[7:] == ["16-64", "0-15", "0-15", "0-15"]
    assert words(data, "Marital status")[8:] == ["married", "married", "formerly married"]


@pytest.mark.slow
def test_labels_are_listed_beside_values(clerk, tmp_path):
    file, listed = tmp_path / "labels.sav", tmp_path / "values.csv"
    labels = {"ms": {1.0: "single", 2.0: "in a partnership"}}
    pyreadstat.write_sav(
        pd.DataFrame({"Age": [20.0, 30.0], "Sex": ["female", "male"], "ms": [1.0, 2.0]}),
        str(file),
        variable_value_labels=labels,
    )
    request = replace(clerk, file=file, columns={"Marital status": "ms"})
    refused(replace(request, unmapped=listed))
    with listed.open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["value"], row["label"]) == ("2", "in a partnership")
    values = write(tmp_path, "filled.csv", "variable,value,category\nMarital status,2,married\n")
    data = open_microdata(replace(request, values=values))
    assert words(data, "Marital status") == ["single", "married"]


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("variable,value\nAge,1\n", Reason.WRONG_SCHEMA, "no column 'category'"),
        ("", Reason.WRONG_SCHEMA, "'variable', 'value', 'category'"),
        ("variable,value,category\nAge,16+,16_64\n", Reason.UNKNOWN_NAME, "Near to it: '16-64'"),
        (
            f"variable,value,category\nMarital status,{SECRET},{SECRET}\n",
            Reason.UNKNOWN_NAME,
            "key variable 'Marital status': 1 value has a value of the file in place of a category",
        ),
        (
            f"variable,value,category\nMarital status,{SECRET},single\nMarital status,{SECRET},any\n",
            Reason.DUPLICATE,
            "variable 'Marital status': 1 value.",
        ),
    ],
)
def test_a_list_of_values_that_cannot_be_used(unmapped, tmp_path, text, reason, said):
    error = refused(replace(unmapped, values=write(tmp_path, "values.csv", text)))
    assert error.reason is reason
    assert said in str(error)


def test_a_list_of_values_that_cannot_be_read(unmapped, tmp_path):
    latin = tmp_path / "latin.csv"
    latin.write_bytes(f"variable,value,category\nAge,{SECRET}\xe4,16-64\n".encode("latin-1"))
    for path in (latin, tmp_path / "none.csv", tmp_path):
        assert refused(replace(unmapped, values=path)).reason is Reason.NOT_READABLE


def test_where_the_list_cannot_be_written(unmapped, tmp_path):
    error = refused(replace(unmapped, unmapped=tmp_path / "no folder" / "values.csv"), StoreError)
    assert error.reason is Reason.NOT_WRITABLE
