from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gamekeeper.algorithms.categories.partitions import bits
from gamekeeper.algorithms.structure.clusterings import normalise
from gamekeeper.algorithms.structure.individual_matching import steadiness
from gamekeeper.attack.linkage.columns import Kind, LinkVariable, read_dates
from gamekeeper.attack.linkage.guessing import (
    MOST_CATEGORIES,
    guess_kinds,
    identifiers,
    structure_columns,
    telling_alone,
)
from gamekeeper.attack.linkage.structure import link_structure
from tests.given.linked_files import AGE, STATUS, file_of

MANY = [f"2{n:03}" for n in range(40)]
CASES = {
    "names": (["anna", "bert", *(f"name{n}" for n in range(40))], Kind.TEXT),
    "mistyped": ([*"abcdefgh", "aa", "bb", "cc"], Kind.TEXT),
    "sex": (["f", "m"], Kind.CATEGORY),
    "iso": ([f"2031-05-{n:02}" for n in range(1, 21)], Kind.DATE),
    "bare": ([f"203105{n:02}" for n in range(1, 21)], Kind.DATE),
    "three ways": (
        [*(f"2031-05-{n:02}" for n in range(1, 11)), "20310511", "12.5.2031", "13.5.2031"],
        Kind.DATE,
    ),
    "mostly dates": ([*(f"2031-05-{n:02}" for n in range(1, 21)), "unknown"], Kind.DATE),
    "half dates": ([*(f"2031-05-{n:02}" for n in range(1, 11)), *"abcdefghij"], Kind.CATEGORY),
    "postcodes": (["0200", *MANY], Kind.TEXT),
    "years": ([str(year) for year in range(1950, 1990)], Kind.NUMBER),
    "numbers": ([str(n * 37) for n in range(40)], Kind.NUMBER),
    "decimals": ([f"{n}.5" for n in range(1000, 1040)], Kind.NUMBER),
    "few numbers": (["1", "2", "3"], Kind.CATEGORY),
    "open end": ([*(str(n) for n in range(60, 90)), "90+"], Kind.ORDINAL),
    "mixed": ([*(str(n) for n in range(60, 90)), "old"], Kind.TEXT),
    "nothing": ([None, None], Kind.CATEGORY),
}


@pytest.mark.parametrize("case", CASES)
def test_kinds_are_guessed_by_values(case):
    values, kind = CASES[case]
    # Of mistyped names, some are in one file alone.
    other = values[:8] if case == "mistyped" else values
    a, b = file_of({"x": values}), file_of({"x": other})
    found, notes = guess_kinds(a, b, [LinkVariable("x")])
    assert found[0].kind is kind
    assert bool(notes) == (kind is Kind.ORDINAL)


def test_what_was_said_is_not_guessed():
    a, b = file_of({"x": MANY, "y": MANY}), file_of({"x": MANY, "y": MANY})
    said = [LinkVariable("x", kind=Kind.NUMBER), LinkVariable("y", measure="squared")]
    assert guess_kinds(a, b, said)[0] == said
    assert guess_kinds(a, b, [LinkVariable("z")])[0] == [LinkVariable("z")]


def test_identifiers_are_found_and_shared_codes_are_none():
    n = 30
    left = {
        "rec": [f"a-{k}" for k in range(n)],
        "row": range(n),
        "social": [f"{7919 * k % 90000 + 10000}" for k in range(n)],
        "income": [f"{1000.25 + 31 * k}" for k in range(n)],
        "name": ["anna", "bert", "carl"] * 10,
    }
    right = {
        "rec": [f"b-{k}" for k in range(n)],
        "row": range(5, 5 + n),
        "social": left["social"],
        "income": [f"{1001.75 + 31 * k}" for k in range(n)],
        "name": ["anna", "bert", "carl"] * 10,
    }
    variables = [LinkVariable(name) for name in left]
    marks = (".", ".")
    assert identifiers(file_of(left), file_of(right), variables, marks) == ["rec", "row"]
    # Few records are no ground to tell.
    few = [{name: list(values)[:5] for name, values in side.items()} for side in (left, right)]
    assert identifiers(file_of(few[0]), file_of(few[1]), variables, marks) == []


def test_dates_are_read_month_first_where_more_are_dates_so():
    found = read_dates(["5/13/2031", "1/2/2031"])
    assert found.days.tolist() == read_dates(["2031-05-13", "2031-01-02"]).days.tolist()
    assert found.ways == ("month/day/year",)
    assert not found.is_ambiguous
    guess = read_dates(["1/2/2031"])
    assert guess.is_ambiguous
    assert guess.days.tolist() == read_dates(["2031-02-01"]).days.tolist()
    assert read_dates(["31.12.31", "0001-01-01", "2031-02-30", "x"]).n_bad == 4


def test_day_or_month_first_is_told_for_each_mark():
    found = read_dates(["1.5.2031", "13.5.2031", "5/1/2031", "5/13/2031", "2031-05-01"])
    assert found.ways == ("day.month.year", "month/day/year", "year-month-day")
    assert found.days[0] == found.days[2] == found.days[4]
    assert found.days[1] == found.days[3]
    assert not found.is_ambiguous
    assert read_dates(["13.5.2031", "5/1/2031"]).is_ambiguous


def test_what_links_by_itself_is_found():
    n = 30
    left = {
        "nr": range(5001, 5001 + n),
        "social": [f"{7919 * k % 90000 + 10000}" for k in range(n)],
        "rec": [f"a-{k}" for k in range(n)],
        "income": [f"{1000.25 + 31 * k}" for k in range(n)],
        "spread": range(100, 100 + 37 * n, 37),
        "sex": ["f", "m"] * (n // 2),
    }
    right = {**left, "rec": [f"b-{k}" for k in range(n)]}
    names = [LinkVariable(name) for name in left]
    tables = file_of(left), file_of(right)
    assert telling_alone(*tables, names, (".", ".")) == ["nr", "social"]
    assert identifiers(*tables, names, (".", ".")) == ["rec"]
    # Values that repeat in one file tell no single record of it.
    right["nr"] = [5001, 5001, *range(5003, 5001 + n)]
    assert telling_alone(tables[0], file_of(right), names, (".", ".")) == ["social"]


def distances(columns, graphs=None):
    found = structure_columns(file_of(columns), list(columns), ".", graphs or {}, "first")
    assert not found.problems
    scaled = normalise(found.values) * found.weights
    return cdist(scaled, scaled, "cityblock"), found


def test_categories_are_one_apart_and_missing_ones_in_between():
    found, told = distances({"s": ["f", "m", "f", None], "x": [1, 1, 1, 1]})
    assert found[0].tolist() == pytest.approx([0, 1, 0, 1 / 3])
    assert "compared as categories: 's'" in told.notes[0]
    assert told.notes[1] == "Cells of the first file that are missing, 1 in all, count as means."


def taxonomy(variable, one, other):
    """By the definition: differences of the shares in all categories, over the largest of sinks."""
    graph = variable.graph
    sets = {name: {*bits(graph.sink_set(name))} for name in graph.categories}

    def apart(x, y):
        return sum(abs(len(x & its) / len(x) - len(y & its) / len(y)) for its in sets.values())

    largest = max(apart(sets[x], sets[y]) for x in graph.sinks for y in graph.sinks)
    return apart(sets[one], sets[other]) / largest


def test_categories_of_a_partition_graph_are_apart_by_the_taxonomy():
    statuses = [*STATUS.graph.categories]
    found, told = distances({"Status": statuses}, {"Status": STATUS})
    for i, one in enumerate(statuses):
        for j, other in enumerate(statuses):
            assert found[i, j] == pytest.approx(taxonomy(STATUS, one, other))
    near, far = ("divorced", "widowed"), ("divorced", "single")
    assert taxonomy(STATUS, *near) < taxonomy(STATUS, *far) <= 1
    assert "compared as categories" in told.notes[0]


def test_ordered_categories_of_a_partition_graph_are_apart_by_steps():
    ages = ["0-15", "16-24", "25-64", "65+", "0-24"]
    found, told = distances({"Age": ages}, {"Age": AGE})
    assert found[0, 1:4].tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    # Half of 0-24 is 0-15, half is one step up.
    assert found[0, 4] == pytest.approx(1 / 6)
    assert told.notes == ("In the first file compared by order: 'Age'.",)


@pytest.mark.parametrize(
    ("values", "orders"),
    [
        (["low", "middle", "high"], {"x": ["low", "middle", "high"]}),
        (["16-24", "25-64", "65+"], {}),
        (["under 10", "10 to 19", "20 and over"], {}),
    ],
)
def test_ordered_words_and_bands_are_apart_by_steps(values, orders):
    table = file_of({"x": [*values, None]})
    found = structure_columns(table, ["x"], ".", {}, "first", orders)
    assert found.values.ravel().tolist() == [0, 1, 2, 1]
    assert found.weights.tolist() == [1]
    assert found.notes[0] == "In the first file compared by order: 'x'."


def test_bands_that_overlap_and_words_are_categories_and_an_order_must_have_all():
    for values in (["0-15", "10-24", "65+"], ["low", "middle", "high"]):
        table = file_of({"x": values})
        assert structure_columns(table, ["x"], ".", {}, "first").values.shape == (3, 3)
    some = structure_columns(table, ["x"], ".", {}, "first", {"x": ["low", "high"]})
    assert some.problems[0].found == "1 value is not in the order."


def test_halves_of_columns_take_all_numbers_of_a_column():
    table = file_of({f"c{k}": ["a", "b", "c", "a"] for k in range(4)})
    made = structure_columns(table, table.codebook.names, ".", {}, "first")
    assert made.origins.tolist() == [k for k in range(4) for _ in range(3)]
    widths = []

    def linking(x, y):
        widths.append((x.shape[1], y.shape[1]))
        return np.arange(4)

    both = made.origins, made.origins
    steadiness(made.values, made.values, np.arange(4), linking, n_runs=5, origins=both)
    assert widths == [(6, 6)] * 5


def test_numbers_stay_numbers_and_missing_ones_are_the_mean():
    found, _ = distances({"x": [0, 10, None, 5]})
    assert found[0].tolist() == pytest.approx([0, 1, 0.5, 0.5])


def test_names_and_unknown_categories_are_refused_without_their_values():
    names = [f"name{k}" for k in range(MOST_CATEGORIES + 1)]
    for columns, graphs in (
        ({"n": names}, {}),
        ({"Status": ["SECRET", "single"]}, {"Status": STATUS}),
        ({"x": ["1e400", "1"]}, {}),
    ):
        found = structure_columns(file_of(columns), list(columns), ".", graphs, "first")
        assert len(found.problems) == 1
        assert "SECRET" not in str(found.problems)
        assert "name1" not in str(found.problems)


@pytest.mark.slow
def test_links_by_structure_are_believed_where_halves_agree_and_not_for_noise():
    rng = np.random.default_rng(1)
    # Every column tells the same: how far along a line a record is.
    places = np.sort(rng.random(20)) ** 3
    order = rng.permutation(20)
    a, b = (np.outer(places, rng.uniform(1, 2, 12)) for _ in range(2))
    shared = link_structure(a, b[order], truth=np.argsort(order))
    noise = link_structure(rng.normal(size=(25, 8)), rng.normal(size=(25, 8)), truth=np.arange(25))
    assert noise.believable == "not shown"
    assert not noise.is_whole_match
    assert (shared.believable, shared.n_correct) == ("yes", 20)
    assert shared.sentences()[0].startswith("20 records are linked to their partner")
    assert any(": from halves" in one for one in shared.sentences())
    assert shared.by_links.n_correct == 20
    assert shared.to_arrow()["came_back"].to_pylist() == [1.0] * 20
    assert link_structure(a, b, halves=0).believable is None


def test_files_of_few_columns_have_no_halves():
    narrow = np.zeros((3, 3))
    assert steadiness(narrow, narrow, np.arange(3), lambda x, y: np.arange(3), n_runs=4) is None
