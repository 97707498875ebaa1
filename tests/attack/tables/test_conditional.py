from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.attack.tables import conditional
from gamekeeper.attack.tables.conditional import subtract_within
from gamekeeper.attack.tables.subtraction import subtract_known
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.errors import InputError, Reason
from tests.given.cases import cases
from tests.twins.subtraction import by_definition, release_by_definition, samples

AXES = {"area": ["n", "s"], "age": ["old", "young"], "work": ["yes", "no"]}
N = [0, 1, 2, 4]


@st.composite
def worlds(draw, margins):
    cells = draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    truth = CountTable.typed(AXES, np.array(cells).reshape(2, 2, 2))
    scheme = draw(st.sampled_from(["exact", "conventional:3", "random:2", "random:3"]))
    return truth, make_release(truth, margins, scheme, seed=draw(st.integers(0, 9)))


def by_hand(release, truth, place, axes):
    """SAP of one area by its definition: the table within it, and what is published of it."""
    others = [axis for axis in range(3) if axis not in axes]
    own = truth.dense().transpose([*axes, *others])[place]
    margins = []
    for table in release.published:
        names = [release.names[axis] for axis in axes]
        if not set(names) <= set(table.axes):
            continue
        rest = [name for name in table.axes if name not in names]
        order = [table.axes.index(name) for name in (*names, *rest)]
        lower, upper = (limits.transpose(order)[place] for limits in table.limits)
        kept = [others.index(release.names.index(name)) for name in rest]
        margins.append((kept, lower, upper))
    known = CountConstraints.of(own.shape, margins)
    flat = [m.upper.reshape(-1)[m.cells] for m in known.margins]
    largest = int(min(np.minimum.reduce(flat).max(), own.sum() + 6)) if flat else 0
    shares, _ = release_by_definition(known, own, max(largest, int(own.max())))
    curve = [1 - row[0] for row in shares]
    return [float(curve[min(n, len(curve) - 1)]) for n in N]


MARGINS = [
    [("area", "age", "work")],
    [("area", "age", "work"), ("area",)],
    [("work", "area", "age"), ("area",)],
    [("area", "age", "work"), ("area", "age"), ("work", "area")],
]


@pytest.mark.parametrize("margins", MARGINS)
@settings(max_examples=12)
@given(data=st.data())
def test_each_area_is_a_table_of_its_own(margins, data):
    truth, release = data.draw(worlds(margins))
    found = subtract_within(release, truth, ["area"], n=N)
    for number in range(2):
        expected = by_hand(release, truth, (number,), [0])
        assert found.values[number] == pytest.approx(expected)
    assert found.populations.tolist() == truth.dense().sum(axis=(1, 2)).tolist()
    assert not found.notes


SMALL = {"area": ["n", "s"], "work": ["yes", "no"]}


@st.composite
def small_worlds(draw):
    cells = draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
    truth = CountTable.typed(SMALL, np.array(cells).reshape(2, 2))
    scheme = draw(st.sampled_from(["exact", "conventional:3", "random:2"]))
    other = [("work",), (), ("area",)]
    margins = [("area", "work"), *draw(st.lists(st.sampled_from(other), min_size=1, unique=True))]
    return truth, make_release(truth, margins, scheme, seed=draw(st.integers(0, 9)))


@cases(20)
@given(small_worlds(), st.booleans())
def test_tables_of_all_areas_count_for_each(world, own_people):
    truth, release = world
    found = subtract_within(release, truth, ["area"], n=N, own_people=own_people)
    known, counts = release.constraints, truth.dense().reshape(-1)
    largest = int(known.cell_limits()[1].max())
    every = itertools.product(range(largest + 1), repeat=4)
    tables = np.array([table for table in every if known.admits(table)])
    for area, cells in enumerate([(0, 1), (2, 3)]):
        people = [int(c) if j in cells or not own_people else 0 for j, c in enumerate(counts)]
        numbers = [0] * (sum(people) + 1)
        for sample, ways in samples(people):
            most = tables[np.all(tables >= sample, axis=1)].max(axis=0)
            if any(sample[j] == counts[j] == most[j] for j in cells):
                numbers[sum(sample)] += ways
        most_known = [min(n, sum(people)) for n in N]
        expected = [numbers[n] / math.comb(sum(people), n) for n in most_known]
        assert found.values[area] == pytest.approx(expected)
    assert not found.notes


def test_a_total_gives_a_neighbour_away():
    # Three of 2 to 4 in the north could be one more. At most 5 work in both areas, and at least 2
    # of them in the south: whoever knows the three of the north knows all of them.
    truth = CountTable.typed(SMALL, [[3, 3], [3, 3]])
    table = {"margin": ["area", "work"], "scheme": "conventional:3", "counts": [[3, 3], [3, 3]]}
    total = {"margin": ["work"], "scheme": "interval", "counts": [[0, 5], [0, 9]]}
    alone = Release.typed(SMALL, [table])
    assert subtract_within(alone, truth, ["area"], n=[6]).values.tolist() == [[0.0], [0.0]]
    truth = CountTable.typed(SMALL, [[3, 3], [2, 3]])
    both = Release.typed(SMALL, [table, total])
    assert subtract_within(both, truth, ["area"], n=[3]).values[0] == pytest.approx([1 / 20])


def test_a_large_release_is_taken_area_by_area(monkeypatch):
    monkeypatch.setattr(conditional, "_MOST_CELLS", 7)
    truth = CountTable.typed(AXES, np.arange(8).reshape(2, 2, 2) % 3)
    apart = make_release(truth, [("area", "age", "work")], "conventional:3")
    release = make_release(truth, [("area", "age", "work"), ("age",)], "conventional:3")
    found = subtract_within(release, truth, ["area"], n=N)
    assert found.values.tolist() == subtract_within(apart, truth, ["area"], n=N).values.tolist()
    assert "too large to be taken as a whole" in found.notes[0]


@given(worlds([("area", "age", "work"), ("area", "age")]))
def test_keys_of_two_axes(world):
    truth, release = world
    found = subtract_within(release, truth, ["age", "area"], n=N)
    assert [axis.name for axis in found.keys] == ["area", "age"]
    for number, place in enumerate(itertools.product(range(2), range(2))):
        assert found.values[number] == pytest.approx(by_hand(release, truth, place, [0, 1]))


@pytest.mark.parametrize("margins", [[("area", "age", "work")], [("area", "age", "work"), ()]])
@given(data=st.data())
def test_people_known_may_be_from_anywhere(margins, data):
    truth, release = data.draw(worlds(margins))
    found = subtract_within(release, truth, ["area", "work"], n=N, own_people=False)
    counts = truth.dense().reshape(-1).tolist()
    lower, upper = (limits.reshape(-1).tolist() for limits in release.published[0].limits)
    most = int(release.published[1].limits[1]) if len(margins) == 2 else None
    cells = np.arange(8).reshape(2, 2, 2)
    for number, (area, work) in enumerate(itertools.product(range(2), range(2))):
        curve, _ = by_definition(counts, lower, upper, most, cells[area, :, work].tolist())
        expected = [float(curve[min(n, len(curve) - 1)]) for n in N]
        assert found.values[number] == pytest.approx(expected)


@pytest.mark.parametrize("with_total", [False, True])
def test_all_areas_at_once_are_the_areas_one_by_one(with_total):
    axes = {"area": range(60), "age": range(3), "work": range(4)}
    truth = CountTable.typed(axes, np.random.default_rng(4).poisson(1, (60, 3, 4)))
    margins = [("area", "age", "work"), *([("area",)] if with_total else [])]
    release = make_release(truth, margins, "conventional:5")
    found = subtract_within(release, truth, ["area"], n=[1, 5, 30])
    for number in range(60):
        own = CountTable(truth.axes[1:], truth.dense()[number])
        alone = make_release(own, [("age", "work"), ()][: len(margins)], "conventional:5")
        assert found.values[number] == pytest.approx(
            subtract_known(alone, own, n=[1, 5, 30]).risk.values, abs=1e-12
        )
    assert found.summary()["tables"] == 60


def test_what_is_told():
    truth = CountTable.typed({"area": ["a", "b"], "work": ["yes", "no"]}, [[4, 1], [6, 7]])
    release = Release.typed(
        truth.axes,
        [{"margin": ["area", "work"], "scheme": "conventional:3", "counts": [[3, 0], [6, 6]]}],
    )
    found = subtract_within(release, truth, ["area"], n=[2, 1])
    # Four of five with work, one without: the last is known to be alone if known.
    assert found.values[0] == pytest.approx([1 / 5, 1 - Fraction(math.comb(4, 2), 10)])
    assert found.to_arrow().to_pylist() == [
        {"table": "area a", "people": 5, "sap_1": pytest.approx(0.2), "sap_2": pytest.approx(0.4)},
        {"table": "area b", "people": 13, "sap_1": 0.0, "sap_2": 0.0},
    ]
    assert found.sentences() == [
        "2 tables, one for each area.",
        (
            "Knowing 1 person of the same table: a zero is recovered with probability 0.1 on average,"
            " above 0.1 in 1 table, for certain in 0."
        ),
        (
            "Knowing 2 people of the same table: a zero is recovered with probability 0.2 on average,"
            " above 0.1 in 1 table, for certain in 0."
        ),
    ]
    assert found.summary() == {
        "tables": 2, "n": 2, "mean_sap": pytest.approx(0.2), "above_0.1": 1, "certain": 0,
    }  # fmt: skip


def test_sampled_areas_have_a_seed():
    axes = {"area": ["a", "b"], "x": range(4), "y": range(4)}
    truth = CountTable.typed(axes, np.random.default_rng(6).poisson(6, (2, 4, 4)))
    margins = [("area", "x", "y"), ("area", "x"), ("area", "y")]
    release = make_release(truth, margins, "random:5", seed=3)
    one = subtract_within(release, truth, ["area"], n=[40], draws=100, seed=9)
    again = subtract_within(release, truth, ["area"], n=[40], draws=100, seed=9)
    assert one.n_sampled == 1
    assert one.provenance.seed == 9
    assert one.to_arrow() == again.to_arrow()
    assert "1 table was estimated from 100 random orders of the people." in one.sentences()


def test_more_people_than_an_area_has():
    truth = CountTable.typed({"area": ["a", "b"], "work": ["yes", "no"]}, [[1, 1], [0, 9]])
    release = make_release(truth, [("area", "work")], "conventional:3")
    found = subtract_within(release, truth, ["area"], n=[2, 3, 50])
    assert found.values[0].tolist() == [1.0, 1.0, 1.0]


def test_what_cannot_be_asked_for():
    truth = CountTable.typed(AXES, np.ones((2, 2, 2), int))
    release = make_release(truth, [("area", "age"), ("work",)])
    for keys in ([], ["area", "age", "work"], ["aera"], ["area", "area"]):
        with pytest.raises(InputError) as caught:
            subtract_within(release, truth, keys)
        assert caught.value.reason is Reason.BAD_OPTION
    with pytest.raises(InputError):
        subtract_within(release, truth, ["area"], n=[-1])
    with pytest.raises(InputError) as caught:
        subtract_within(release, truth, ["area"], n=[])
    assert caught.value.reason is Reason.NOTHING_GIVEN
