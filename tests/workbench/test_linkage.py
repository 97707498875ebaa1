"""Linkage as a person runs it: from files to links, tables and plots."""

from __future__ import annotations

import numpy as np
import pyarrow.csv
import pytest

import gamekeeper as gk
from gamekeeper.attack.linkage.columns import Kind, LinkVariable
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.options import LinkMethod, ObjectiveName
from gamekeeper.errors import InputError, LimitError, Reason, StoreError
from gamekeeper.options import build
from gamekeeper.workbench.linkage import evaluate_files, link_two_files, link_two_structures
from gamekeeper.workbench.requests.records import EvaluateRequest, LinkRequest, StructureRequest
from tests.given.linked_files import AGE, STATUS
from tests.given.microdata import write

ORIGINAL = """\
id,age,income,sex,town
a,20,100.5,f,Nord
b,31,200,f,Nord
c,42,50.25,m,Sud
d,53,75,m,Sud
e,64,80,f,
"""
MASKED = """\
id,age,income,sex,town
e,65,81,f,Nord
c,41,50,m,Sud
a,20,101,f,Nord
d,54,74,m,Sud
b,30,199,f,Nord
"""
NUMBERS = {"age": "number", "income": "number"}


@pytest.fixture
def place(tmp_path):
    write(tmp_path, "original.csv", ORIGINAL)
    write(tmp_path, "masked.csv", MASKED)
    return tmp_path


def linked(place, *, first="masked.csv", second="original.csv", **asked):
    files = {"first": place / first, "second": place / second, "everybody": True}
    return link_two_files(build(LinkRequest, {**files, **asked}))


def evaluated(original, masked, **asked):
    files = {"original": original, "masked": tuple(masked)}
    return evaluate_files(build(EvaluateRequest, {**files, **asked}))


def structured(first, second, **asked):
    return link_two_structures(build(StructureRequest, {"first": first, "second": second, **asked}))


def test_two_files_are_linked_on_what_they_share(place):
    found = linked(place, identifier="id", kinds=NUMBERS)
    assert [one.name for one in found.variables] == ["age", "income", "sex", "town"]
    assert found.linked.columns.tolist() == [4, 2, 0, 3, 1]
    assert found.rate == 1


def test_files_and_library_find_the_same(place):
    request = {"on": ["age", "sex"], "kinds": {"age": "number"}, "objective": ObjectiveName.EQUAL}
    found = linked(place, **request)
    names = ["age", "sex"]
    a, b = (
        gk.code_source(gk.open_source(place / file), names)
        for file in ("masked.csv", "original.csv")
    )
    variables = [LinkVariable("age", kind="number"), LinkVariable("sex")]
    alone = link_files(a, b, variables, objective="equal")
    assert found.to_arrow() == alone.to_arrow()
    assert found.truth is None


def test_columns_may_have_other_names(place):
    renamed = ORIGINAL.replace("id,age,income", "id,years,money")
    write(place, "renamed.csv", renamed)
    found = linked(
        place, second="renamed.csv", on=["age=years", "income = money", "sex"], kinds=NUMBERS,
        identifier="id",
    )  # fmt: skip
    assert [(one.name, one.column) for one in found.variables] == [
        ("age", "years"),
        ("income", "money"),
        ("sex", "sex"),
    ]
    assert found.rate == 1
    # The first file named is the original here, and links go the other way.
    rates = evaluated(
        place / "original.csv",
        [place / "masked.csv"],
        on=["age", "income"],
        kinds=NUMBERS,
        identifier="id",
    )
    other = evaluated(
        place / "renamed.csv",
        [place / "masked.csv"],
        on=["years=age", "money=income"],
        kinds={"years": "number", "money": "number"},
        identifier="id",
    )
    assert rates.summary() == other.summary() == {"masked": 1}


def test_decimal_marks_are_those_of_each_file(place):
    commas = ORIGINAL.replace(",", ";").replace(".", ",")
    write(place, "commas.csv", commas)
    found = linked(
        place, second="commas.csv", on=["income"], kinds={"income": "number"}, identifier="id"
    )
    assert found.rate == 1
    rates = evaluated(
        place / "commas.csv",
        [place / "masked.csv"],
        on=["income"],
        kinds={"income": "number"},
        identifier="id",
    )
    assert rates.summary() == {"masked": 1}


@pytest.fixture
def world(tmp_path):
    forms = [gk.Form("Bank", {"Age": ("0-24", "25-64", "65+"), "Status": ()})]
    gk.write_environment(gk.Environment([AGE, STATUS], forms), tmp_path / "world")
    write(tmp_path, "bank.csv", "id,Age,Status\n1,0-24,not married\n2,16+,ever married\n3,16+,\n")
    write(tmp_path, "shop.csv", "id,Age,Status\n3,25-64,single\n2,70,widowed\n1,12,single\n")
    return tmp_path


def test_categorizations_are_compared_by_an_environment(world):
    options = {
        "first": "bank.csv", "second": "shop.csv", "identifier": "id",
        "kinds": {"Age": "mapped", "Status": "mapped"}, "environment": world / "world",
    }  # fmt: skip
    found = linked(world, **options)
    assert {one.kind for one in found.variables} == {Kind.MAPPED}
    assert found.linked.columns.tolist() == [2, 1, 0]
    assert found.rate == 1
    blocked = linked(world, block=["Age", "Status"], **options)
    assert blocked.linked.columns.tolist() == [2, 1, 0]
    # Of nine pairs these are compatible; a missing status fits any.
    assert blocked.linked.n_pairs == 4


def test_what_is_mapped_must_be_in_an_environment(world):
    request = {"first": "bank.csv", "second": "shop.csv", "on": ["Age", "id"]}
    for options, found in (
        ({"kinds": {"Age": "mapped"}}, "'Age' was to be compared"),
        ({"kinds": {"id": "mapped"}, "environment": world / "world"}, "not in the environment"),
        ({"environment": world / "world"}, "Say which"),
    ):
        with pytest.raises(InputError, match=found):
            linked(world, **request, **options)
    write(world, "bank.csv", "id,Age\n1,SECRET\n")
    with pytest.raises(InputError) as caught:
        linked(world, **request, kinds={"Age": "mapped"}, environment=world / "world")
    assert "1 value is no category of 'Age'" in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_all_options_that_do_not_fit_are_told_at_once(place):
    with pytest.raises(InputError) as caught:
        linked(
            place, kinds={"aeg": "number", "sex": "colour"}, measures={"x": "absolute"},
            missing={"y": "zero"}, order={"z": ["a"]}, weights={"w": 1.0},
        )  # fmt: skip
    assert len(caught.value.problems) == 6
    assert "Near to it: 'age'" in str(caught.value)


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ({"on": ["age", "height"]}, "height"),
        ({"identifier": "number"}, "number"),
        ({"block": ["height"]}, "height"),
        ({"weights": {"age": 2.0}}, "Only the objective 'weighted'"),
        ({"missing": {"age": "never"}}, "impossible"),
        ({"missing": {"age": "nan"}}, "at least 0"),
    ],
)
def test_names_and_rules_that_are_not_there_are_refused(place, request_, found):
    with pytest.raises(InputError, match=found):
        linked(place, **request_)


def test_steps_are_for_lexicographic_costs(place):
    """Two records are told apart by income only; in one step, their incomes are alike."""
    request = {"on": ["sex", "income"], "kinds": {"income": "number"}, "identifier": "id"}
    found = linked(place, **request, objective=ObjectiveName.LEXICOGRAPHIC, steps={"income": 200})
    assert found.rate == 1
    coarse = linked(place, **request, objective=ObjectiveName.LEXICOGRAPHIC, steps={"income": 1})
    assert coarse.rate < 1
    with pytest.raises(InputError, match="Only the objective 'lexicographic'"):
        linked(place, **request, steps={"income": 1})
    with pytest.raises(InputError, match="steps of 'age'"):
        linked(place, **request, objective=ObjectiveName.LEXICOGRAPHIC, steps={"age": 1})


def test_both_files_are_read_as_is_said(place):
    for name, text in (("a.csv", MASKED), ("b.csv", ORIGINAL)):
        write(place, name, text.replace(",", "|").replace("Nord", "-9"))
    asked = {
        "first": "a.csv", "second": "b.csv", "on": ["age", "town"], "kinds": {"age": "number"},
        "identifier": "id", "objective": "equal",
    }  # fmt: skip
    found = linked(place, **asked, delimiter="|")
    assert found.rate == 1
    gaps = linked(place, **asked, delimiter="|", missing_values=("-9",))
    # One town is missing in one file: half a difference, unless only one town is left.
    assert gaps.linked.total == pytest.approx(found.linked.total - 0.5)
    with pytest.raises(InputError):
        linked(place, **asked, delimiter=";")


def test_files_without_a_common_column_are_pointed_to_structure(place):
    write(place, "other.csv", "id,height\na,1\n")
    with pytest.raises(InputError) as caught:
        linked(place, second="other.csv", identifier="id")
    assert caught.value.reason is Reason.NOTHING_GIVEN
    assert "link structure" in str(caught.value)


def test_weights_are_one_where_none_is_given(place):
    request = {
        "on": ["age", "sex"], "kinds": {"age": "number"}, "objective": ObjectiveName.WEIGHTED,
    }  # fmt: skip
    plain = linked(place, on=["age", "sex"], kinds={"age": "number"}, objective=ObjectiveName.EQUAL)
    assert linked(place, **request).linked.total == pytest.approx(plain.linked.total)
    doubled = linked(place, weights={"age": 2.0}, **request)
    assert doubled.linked.total == pytest.approx(2 * plain.linked.total)


def test_links_are_written_and_drawn(place):
    output, plot = place / "links.csv", place / "links.svg"
    found = linked(place, identifier="id", output=output, plot=plot)
    written = pyarrow.csv.read_csv(output).to_pylist()
    assert [row["linked_to"] for row in written] == found.to_arrow()["linked_to"].to_pylist()
    assert "<svg" in plot.read_text(encoding="utf-8")
    with pytest.raises((InputError, StoreError)):
        linked(place, output=place / "original.csv")
    assert (place / "original.csv").read_text(encoding="utf-8") == ORIGINAL


def in_order(text, order="abcde"):
    header, *lines = text.splitlines()
    by_name = {line[0]: line for line in lines}
    return "\n".join([header, *(by_name[name] for name in order)]) + "\n"


def test_versions_are_compared_with_and_without_identifier(place):
    write(place, "ordered.csv", in_order(MASKED))
    request = {"on": ["age", "income"], "kinds": NUMBERS}
    original, masked, ordered = (
        place / name for name in ("original.csv", "masked.csv", "ordered.csv")
    )
    by_order = evaluated(original, [ordered, masked], **request)
    # Without an identifier, records are taken to be in the same order; in one file they are not.
    assert by_order.summary() == {"ordered": 1, "masked": 1 / 5}
    by_name = evaluated(
        original,
        [ordered, masked],
        on=["age", "income"],
        kinds=NUMBERS,
        identifier="id",
    )
    assert by_name.summary() == {"ordered": 1, "masked": 1}
    assert by_name.methods == ("optimal, estimated", "nearest, estimated")


def test_a_second_identifier_is_compared_and_said(tmp_path):
    lines = [f"{k},{5000 + k},{k % 7},{k % 3}" for k in range(1, 31)]
    for name in ("one.csv", "two.csv"):
        write(tmp_path, name, "\n".join(["id,nr,x,y", *lines]) + "\n")
    files = {"first": "one.csv", "second": "two.csv", "identifier": "id"}
    said = "'nr' has another value for each record and links by itself"
    assert any(note.startswith(said) for note in linked(tmp_path, **files).notes)
    named = linked(tmp_path, **files, on=["nr", "x"])
    assert not any(note.startswith(said) for note in named.notes)
    found = evaluated(tmp_path / "one.csv", [tmp_path / "two.csv"], identifier="id")
    assert found.notes[0].startswith(said)


def test_versions_without_an_identifier_are_not_taken_for_safe(tmp_path):
    rows = [f"{k},{(k * 37) % 101},{(k * 53) % 97}" for k in range(1, 41)]
    for name, lines in (("original", rows), ("same", rows), ("turned", rows[::-1])):
        write(tmp_path, f"{name}.csv", "\n".join(["nr,age,income", *lines]) + "\n")
    original, same, turned = (tmp_path / f"{name}.csv" for name in ("original", "same", "turned"))
    # The number of a record is not compared, and tells that the order is another.
    with pytest.raises(InputError) as caught:
        evaluated(original, [same, turned])
    assert [one.where for one in caught.value.problems] == ["file 'turned.csv'"]
    assert "(--id)" in str(caught.value)
    found = evaluated(original, [same])
    assert found.provenance.parameters["variables"] == "age, income"
    assert found.notes[0].startswith("No identifier was named (--id)")
    assert "'nr' looks like an identifier" in found.notes[1]
    assert set(found.notes) <= set(found.sentences())
    assert evaluated(original, [turned], identifier="nr").summary() == {"turned": 1}
    assert evaluated(original, [turned], identifier="nr").notes == ()
    assert evaluated(original, [turned], on=["age", "income"]).notes == found.notes[:1]


def test_versions_of_another_length_need_an_identifier(place):
    write(place, "part.csv", "\n".join(MASKED.splitlines()[:4]) + "\n")
    original, part = place / "original.csv", place / "part.csv"
    with pytest.raises(InputError) as caught:
        evaluated(original, [part], kinds=NUMBERS)
    assert "3 records, not 5" in str(caught.value)
    found = evaluated(original, [part], kinds=NUMBERS, identifier="id")
    assert found.to_arrow()["records"].to_pylist() == [3, 3]


def test_versions_with_the_same_name_are_told_apart(place):
    for folder in ("mild", "strong"):
        (place / folder).mkdir()
        write(place / folder, "masked.csv", MASKED)
    write(place, "masked.txt.csv", MASKED)
    files = [place / "mild" / "masked.csv", place / "strong" / "masked.csv"]
    request = {"kinds": NUMBERS, "identifier": "id"}
    found = evaluated(place / "original.csv", files, **request)
    assert found.names == tuple(map(str, files))
    again = evaluated(place / "original.csv", [*files[:1], *files[:1]], **request)
    assert again.names == ("masked",)
    with pytest.raises(InputError, match="None was given"):
        evaluated(place / "original.csv", [], **request)


def test_weights_count_in_a_comparison(place):
    found = evaluated(
        place / "original.csv",
        [place / "masked.csv"],
        on=["age", "income"],
        kinds=NUMBERS,
        identifier="id",
        weights={"age": 0.0},
        objectives=[ObjectiveName.WEIGHTED, ObjectiveName.EQUAL],
        methods=[LinkMethod.OPTIMAL],
    )
    weighted, equal = (one.linked.total for one in found.links[0])
    assert weighted < equal


def test_versions_are_compared_within_blocks(place):
    """Blocks are named by columns of the original, which a version may have under another name."""
    write(place, "renamed.csv", MASKED.replace("sex", "gender"))
    original = place / "original.csv"
    request = {
        "on": ["age", "sex=gender"], "kinds": {"age": "number"}, "identifier": "id",
        "block": ["sex"],
    }  # fmt: skip
    found = evaluated(original, [place / "renamed.csv"], **request)
    assert [one.provenance.parameters["blocking"] for one in found.links[0]] == ["gender"] * 2
    assert [one.linked.n_pairs for one in found.links[0]] == [13, 13]
    assert found.summary() == {"renamed": 1}
    for block in ([], ["sex"]):
        with pytest.raises(LimitError, match="max_pairs"):
            evaluated(original, [original], block=block, max_pairs=3)
    with pytest.raises(InputError, match="blocked on 'town'"):
        evaluated(original, [original], on=["age"], block=["town"])


@pytest.mark.parametrize("column", ["id", "sex"])
def test_identifiers_that_are_there_twice_are_refused(place, column):
    write(place, "twice.csv", MASKED.replace("e,65", "a,65"))
    first = "twice.csv" if column == "id" else "masked.csv"
    with pytest.raises(InputError) as caught:
        linked(place, first=first, identifier=column, on=["age"])
    assert caught.value.reason is Reason.DUPLICATE
    with pytest.raises(InputError):
        structured(
            place / first,
            place / "original.csv",
            columns=["age"],
            others=["age"],
            identifier=column,
        )


def numbers_file(place, name, values, names="id"):
    header = ",".join([names, *(f"v{number}" for number in range(values.shape[1]))])
    lines = [f"{number},{','.join(map(str, row))}" for number, row in enumerate(values.tolist())]
    return write(place, name, "\n".join([header, *lines]) + "\n")


@pytest.fixture
def halves(tmp_path):
    rng = np.random.default_rng(2)
    values = np.repeat([[0.0, 0], [9, 1], [2, 8]], [9, 7, 4], axis=0) + rng.normal(size=(20, 2))
    numbers_file(tmp_path, "one.csv", values)
    lines = numbers_file(tmp_path, "two.csv", values * [30, 0.5]).read_text(encoding="utf-8")
    header, *rows = lines.splitlines()
    write(tmp_path, "two.csv", "\n".join([header.replace("v", "w"), *rows[::-1]]) + "\n")
    return tmp_path


@pytest.mark.slow
def test_structures_are_matched_from_files(halves):
    output, plot = halves / "links.csv", halves / "links.svg"
    found = structured(
        halves / "one.csv", halves / "two.csv", identifier="id", n_clusters=3, leave_out=True,
        output=output, plot=plot,
    )  # fmt: skip
    assert found.n_correct == 20
    assert found.truth.tolist() == list(range(19, -1, -1))
    written = pyarrow.csv.read_csv(output).to_pylist()
    assert [row["linked_to"] for row in written] == list(range(20, 0, -1))
    assert "<svg" in plot.read_text(encoding="utf-8")
    chosen = structured(
        halves / "one.csv", halves / "two.csv", columns=["v0"], others=["w0", "w1"], n_clusters=2
    )
    assert chosen.truth is None
    assert chosen.n_clusters == (2,) * 6


def test_structures_take_categories_and_gaps_and_refuse_names(halves):
    text = (halves / "one.csv").read_text(encoding="utf-8").splitlines()
    more = [f"{line},{k % 3 and 'xyz'[k % 3]}" for k, line in enumerate(text[1:])]
    write(halves, "more.csv", "\n".join([f"{text[0]},kind", *more]) + "\n")
    found = structured(halves / "more.csv", halves / "two.csv", identifier="id")
    assert "In the first file compared as categories: 'kind'." in found.notes
    names = [f"{line},name{k}{'x' * (k % 5)}" for k, line in enumerate(text[1:] * 8)]
    write(halves, "bad.csv", "\n".join([f"{text[0]},name", *names]) + "\n")
    with pytest.raises(InputError) as caught:
        structured(halves / "bad.csv", halves / "two.csv")
    assert [problem.reason for problem in caught.value.problems] == ["bad-option"]
    assert "name1" not in str(caught.value)
    for options, found in (
        ({"n_clusters": 21}, "21 clusters of 20 records"),
        ({"leave_out": True, "identifier": ""}, "--id"),
        ({"columns": ["v7"]}, "v7"),
        ({"identifier": "key"}, "key"),
    ):
        with pytest.raises(InputError, match=found):
            structured(halves / "one.csv", halves / "two.csv", **{"identifier": "id", **options})


def test_columns_of_both_files_that_have_no_structure_are_told_at_once(tmp_path):
    for name, column in (("one.csv", "left"), ("two.csv", "right")):
        lines = [f"{k},{column}SECRET{k}" for k in range(120)]
        write(tmp_path, name, "\n".join([f"x,{column}", *lines]) + "\n")
    with pytest.raises(InputError) as caught:
        structured(tmp_path / "one.csv", tmp_path / "two.csv")
    assert [problem.where for problem in caught.value.problems] == [
        "column 'left' of the first file",
        "column 'right' of the second file",
    ]
    assert "2 columns cannot be" in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_one_record_has_no_structure(tmp_path):
    write(tmp_path, "one.csv", "x,y\n1,2\n")
    write(tmp_path, "more.csv", "v,w\n" + "".join(f"{k},{k * k % 7}\n" for k in range(12)))
    for files in (("one.csv", "more.csv"), ("more.csv", "one.csv")):
        with pytest.raises(InputError) as caught:
            structured(*(tmp_path / name for name in files))
        said = str(caught.value)
        assert "it has 1 record, which cannot be divided into clusters" in said
        assert "Give files of more than 4 records." in said
        assert "--clusters" not in said
