from __future__ import annotations

import pytest

import gamekeeper as gk
from gamekeeper.mapping.variables.sink_sets import SinkFinder
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


def test_the_first_text_that_is_known_counts():
    finder = SinkFinder(STATUS)
    assert finder.first_of(["7", "single", "married"]) == finder.sinks("single")
    assert finder.first_of(["7", "8"]) == []
