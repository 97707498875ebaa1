from __future__ import annotations

import pytest

import gamekeeper as gk
from gamekeeper.data.coding.codebook import CodedVariable
from gamekeeper.mapping.recoding import SinkFinder
from tests.given.linked_files import AGE, STATUS


def named(variable, text, **options):
    finder = SinkFinder(variable, **options)
    return [variable.graph.sinks[place] for place in finder.sinks(text)]


@pytest.mark.parametrize(
    ("text", "sinks"),
    [
        ("married", ["married"]),
        ("Married", ["married"]),
        ("NOT MARRIED", ["single", "divorced", "widowed"]),
        ("ever married", ["married", "divorced", "widowed"]),
        ("engaged", []),
        ("", []),
        ("3", []),
    ],
)
def test_a_category_is_found_by_its_name(text, sinks):
    assert sorted(named(STATUS, text)) == sorted(sinks)


@pytest.mark.parametrize(
    ("text", "sinks"),
    [
        ("0-15", ["0-15"]),
        ("0-24", ["0-15", "16-24"]),
        ("16+", ["16-24", "25-64", "65+"]),
        ("0", ["0-15"]),
        ("15", ["0-15"]),
        ("16", ["16-24"]),
        ("15.9", ["0-15"]),
        ("101", ["65+"]),
        ("20-30", ["16-24", "25-64"]),
        ("60 and over", ["25-64", "65+"]),
        ("-3", []),
        ("about twenty", []),
    ],
)
def test_a_number_is_in_a_band_and_a_band_meets_bands(text, sinks):
    assert named(AGE, text) == sinks


def test_numbers_are_read_with_the_mark_of_the_file():
    assert named(AGE, "15,9", decimal=",") == ["0-15"]
    assert named(AGE, "15,9") == []


def test_names_that_differ_in_case_only_are_told_apart():
    variable = gk.Variable("Grade", gk.mapping.PartitionGraph({"a": [], "A": [], "b": []}))
    assert named(variable, "a") == ["a"]
    assert named(variable, "A") == ["A"]
    assert named(variable, "B") == ["b"]


def test_words_come_before_a_value_that_is_a_number_for_something_else():
    coded = CodedVariable.of_values("age", ["1", "7"], labels={"1": "0-15", "7": "sixty-five up"})
    finder = SinkFinder(AGE)
    assert finder.of(coded, 1) == finder.sinks("0-15")
    assert finder.of(coded, 2) == []
    status = CodedVariable.of_values("status", ["single"], labels={"single": "never wed"})
    assert SinkFinder(STATUS).of(status, 1) == SinkFinder(STATUS).sinks("single")


COUNT = gk.Variable.of_bands("Cars", ["0", "1", "2", "3+"])
SINGLE = gk.Variable.of_bands("Age", [str(year) for year in range(18)])


@pytest.mark.parametrize(
    ("variable", "values", "asked"),
    [
        (AGE, range(1, 9), 8),
        (AGE, range(19), 19),
        (AGE, range(4, 19), 15),  # adults in bands of five years: the first bands are empty
        (AGE, [1, 2, 3, 5, 8], 5),
        (AGE, [*range(1, 9), 98, 99], 8),  # codes for missing beside them
        (AGE, [*range(1, 9), -9], 8),
        (AGE, [*range(1, 9), "refused"], 8),
        (AGE, ["1.0", "2.0", "3.0"], 3),
        (AGE, [1], 1),
        (AGE, [0, 1], 2),
        (AGE, [3, 7, 12], 0),
        (AGE, range(16, 26), 0),  # too many below would be empty
        (AGE, range(26), 26),
        (AGE, range(27), 0),
        (AGE, [1, 2, 3, 34], 0),
        (AGE, ["0.5", "1", "2"], 0),
        (AGE, ["0-15", "16-24"], 0),
        (AGE, [], 0),
        (SINGLE, range(1, 9), 8),
        (COUNT, range(1, 9), 0),
        (COUNT, range(3), 0),
        (STATUS, range(1, 5), 0),
    ],
)
def test_small_numbers_without_gaps_may_be_codes(variable, values, asked):
    texts = [str(value) for value in values]
    column = CodedVariable.of_values("c", texts)
    found = SinkFinder(variable).may_be_codes(column)
    assert len(found) == asked
    assert {column.values[code] for code in found} <= {*texts} - {"98", "99", "-9", "refused"}


def test_numbers_with_labels_that_are_known_are_no_question():
    labels = {"1": "0-15", "2": "16-24", "3": "25-64", "4": "65+"}
    column = CodedVariable.of_values("c", ["1", "2", "3", "4"], labels=labels)
    assert SinkFinder(AGE).may_be_codes(column) == []
