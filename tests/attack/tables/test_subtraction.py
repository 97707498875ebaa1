from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.attack.tables import subtraction as conditional
from gamekeeper.attack.tables.subtraction import subtract_known, subtract_within
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases
from tests.given.count_tables import random_release, truths
from tests.twins.subtraction import by_definition, release_by_definition, samples

SEX = {"sex": ["f", "m"]}
AXES_18 = {"VAR1": ["A", "B", "C"], "VAR2": ["D", "E", "F"]}
TRUTH_17 = [[1, 3, 0], [4, 0, 0], [3, 2, 0]]
SAP_18 = [
    "0", "1/13", "2/13", "3/13", "17/55", "503/1287", "205/429", "245/429", "862/1287", "551/715",
    "124/143", "37/39", "1", "1",
]  # fmt: skip


def fractions(found):
    return [str(value) for value in found.risk.fractions]


def figure_23(*, total=True):
    tables = [{"margin": ["sex"], "scheme": "random:5", "counts": [5, 5]}]
    if total:
        tables.append({"margin": [], "scheme": "random:5", "counts": 0})
    return Release.typed(SEX, tables)


@given(truths(), st.randoms(use_true_random=False))
def test_sap_is_its_definition(truth, random):
    """Every sample and every table that fits, on tiny tables."""
    small = CountTable(truth.axes, np.minimum(truth.dense(), 2))
    assume(small.size <= 6 and small.total <= 6)
    schemes = ["exact", "conventional:3", "random:2", "barnardization:0.5"]
    release = random_release(small, random, schemes)
    upper = np.minimum.reduce(
        [m.upper.reshape(-1)[m.cells] for m in release.constraints.margins], axis=0
    )
    largest = int(upper.max())
    assume(largest <= 5)
    shares, cells = release_by_definition(release.constraints, small.dense(), largest)
    found = subtract_known(release, small, at=small.total // 2)
    assert found.risk.fractions == tuple(1 - row[0] for row in shares)
    assert found.expected == pytest.approx(
        [float(sum(k * share for k, share in enumerate(row))) for row in shares]
    )
    width = found.distribution.shape[1]
    for told, row in zip(found.distribution, shares, strict=True):
        assert told == pytest.approx([float(share) for share in row[:width]])
        assert not any(row[width:])
    assert found.detail.cells.reshape(-1) == pytest.approx(
        [float(share) for share in cells[small.total // 2]]
    )
    numbers = np.arange(small.dense().size).reshape(small.dense().shape)
    for axis, told in enumerate(found.detail.categories):
        for category, risk in enumerate(told):
            within = set(np.take(numbers, category, axis).reshape(-1).tolist())
            own, _ = release_by_definition(release.constraints, small.dense(), largest, within)
            assert risk == pytest.approx(float(1 - own[small.total // 2][0]))


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4), st.booleans(), st.integers(0, 9))
def test_categories_to_blame(counts, has_total, seed):
    axes = {"sex": ["f", "m"], "work": ["yes", "no"]}
    truth = CountTable.typed(axes, np.array(counts).reshape(2, 2))
    margins = [("sex", "work"), ()] if has_total else [("sex", "work")]
    release = make_release(truth, margins, "random:3", seed=seed)
    found = subtract_known(release, truth, at=2)
    limits = [limit.reshape(-1).tolist() for limit in release.published[0].limits]
    most = int(release.published[1].limits[1]) if has_total else None
    n = min(2, truth.total)
    for axis, groups in enumerate([([0, 1], [2, 3]), ([0, 2], [1, 3])]):
        for category, cells in enumerate(groups):
            curve, _ = by_definition(counts, *limits, most, cells)
            assert found.detail.categories[axis][category] == pytest.approx(float(curve[n]))


def test_two_people_of_four():
    """Figure 23 of the thesis: three women and one man, with the rounded total and without."""
    truth = CountTable.typed(SEX, [3, 1])
    found = subtract_known(figure_23(), truth)
    assert fractions(found) == ["0", "0", "0", "1/4", "1"]
    assert found.summary() == {
        "population": 4, "possible_from": 3, "certain_from": 4, "exact": True, "largest_n": 4,
        "largest_sap": 1.0,
    }  # fmt: skip
    assert found.sentences() == [
        "The table has 4 people in it.",
        "Somebody who knows 1 person at random recovers a zero with probability 0.",
        "Somebody who knows 3 people at random recovers a zero with probability 0.25.",
        "Somebody who knows 4 people at random recovers a zero with probability 1.",
        "A zero can be recovered from 3 known people on, and always is from 4 on.",
    ]
    alone = subtract_known(figure_23(total=False), truth)
    assert fractions(alone) == ["0"] * 5
    assert "possible_from" not in alone.summary()
    assert alone.sentences()[-1] == (
        "No number of known people that was asked for recovers a zero."
    )


def test_the_rounded_table_of_the_thesis():
    """Figures 17 to 22: exact, rounded, and rounded with its margins."""
    truth = CountTable.typed(AXES_18, TRUTH_17)
    both = ("VAR1", "VAR2")
    exact = subtract_known(make_release(truth, [both]), truth)
    assert fractions(exact) == ["1"] * 14
    # Four cells are empty in truth, and the other five as soon as everybody is known.
    assert exact.sentences()[1:3] == [
        "The release gives 4 zeros away to anybody: nobody has to be known.",
        "Somebody who knows 13 people recovers 5 more on average.",
    ]
    rounded = subtract_known(make_release(truth, [both], "conventional:3"), truth)
    assert fractions(rounded) == SAP_18
    margins = make_release(truth, [both, ("VAR1",), ("VAR2",), ()], "conventional:3")
    assert fractions(subtract_known(margins, truth)) == ["1"] * 14


def test_more_people_than_there_are_know_as_much_as_all():
    truth = CountTable.typed(SEX, [3, 1])
    found = subtract_known(figure_23(), truth, n=[4, 5, 1_000])
    assert fractions(found) == ["1", "1", "1"]
    general = subtract_known(
        make_release(truth, [("sex",), ("sex",), ()], ["random:3", "conventional:5", "exact"]),
        truth,
        n=[4, 99],
    )
    assert general.risk.values[0] == general.risk.values[1]


def large():
    axes = {"a": range(4), "b": range(5)}
    truth = CountTable.typed(axes, np.random.default_rng(8).poisson(4, (4, 5)))
    return make_release(truth, [("a", "b"), ("a",), ("b",)], "random:5", seed=2), truth


def test_a_search_that_is_too_long_is_refused_or_sampled():
    release, truth = large()
    with pytest.raises(LimitError) as caught:
        subtract_known(release, truth, n=[5], method="exact")
    assert caught.value.reason is Reason.TOO_LARGE
    assert "max_samples" in str(caught.value)
    one = subtract_known(release, truth, n=[0, 20, 60], draws=300, seed=1)
    assert not one.risk.is_exact
    assert one.risk.draws == 300
    assert np.all(one.risk.lower <= one.risk.values)
    assert np.all(one.risk.values <= one.risk.upper)
    assert any("Estimated from 300 random orders" in text for text in one.sentences())
    assert any("and where is estimated" in note for note in one.notes)
    again = subtract_known(release, truth, n=[0, 20, 60], draws=300, seed=1)
    assert one.to_arrow() == again.to_arrow()
    assert one.detail.to_arrow() == again.detail.to_arrow()


def test_sampling_agrees_with_the_exact_answer():
    truth = CountTable.typed(AXES_18, TRUTH_17)
    release = make_release(truth, [("VAR1", "VAR2")], "conventional:3")
    found = subtract_known(release, truth, method="sampling", draws=2_000, seed=6)
    exact = np.array([float(Fraction(text)) for text in SAP_18])
    assert found.risk.draws == 2_000
    assert np.all(np.abs(found.risk.values - exact) < 4 * np.sqrt(0.25 / 2_000))


def test_only_some_numbers_are_shown():
    release, truth = large()
    single = make_release(truth, [("a", "b")], "random:5", seed=1)
    found = subtract_known(single, truth)
    assert found.risk.n.tolist() == list(range(truth.total + 1))
    few = found.few(5)["n"].to_pylist()
    assert few[0] == 0
    assert few[-1] == truth.total
    assert len(few) == 5
    assert release.axes == truth.axes


def test_numbers_beside_the_curve():
    truth = CountTable.typed(SEX, [2, 2])
    release = make_release(truth, [("sex",)], "conventional:5")
    found = subtract_known(release, truth, n=[2], at=2)
    rows = found.detail.to_arrow().to_pylist()
    assert [row["where"] for row in rows] == ["sex f", "sex m", "sex f", "sex m"]
    assert [row["what"] for row in rows] == ["category", "category", "cell", "cell"]
    assert [row["probability"] for row in rows] == pytest.approx([1 / 6] * 4)
    assert found.detail.summary()["expected_zeros"] == pytest.approx(1 / 3)
    assert found.to_arrow().to_pylist() == [
        {"n": 2, "sap": pytest.approx(1 / 3), "exact": "1/3", "lower": pytest.approx(1 / 3),
         "upper": pytest.approx(1 / 3), "expected_zeros": pytest.approx(1 / 3)}
    ]  # fmt: skip


def test_what_cannot_be_asked_for():
    truth = CountTable.typed(SEX, [3, 1])
    other = CountTable.typed({"gender": ["f", "m"]}, [3, 1])
    for call, reason in (
        (lambda: subtract_known(figure_23(), other), Reason.WRONG_SCHEMA),
        (lambda: subtract_known(figure_23(), CountTable.typed(SEX, [9, 1])),
         Reason.CONFLICTING_COUNTS),
        (lambda: subtract_known(figure_23(), truth, n=[-1]), Reason.BAD_OPTION),
        (lambda: subtract_known(figure_23(), truth, at=-1), Reason.BAD_OPTION),
        (lambda: subtract_known(figure_23(), truth, method="guess"), Reason.BAD_OPTION),
    ):  # fmt: skip
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.reason is reason


def test_some_of_the_categories_and_some_of_the_cells():
    truth = CountTable.typed({"x": range(12), "y": range(2)}, np.arange(24).reshape(12, 2) % 5)
    detail = subtract_known(make_release(truth, [("x", "y")]), truth, n=[3]).detail
    few, whole = detail.few(3).to_pylist(), detail.to_arrow().to_pylist()
    assert [row["what"] for row in few] == ["category"] * 3 + ["cell"] * 3
    assert few[:3] == whole[:3]
    assert few[3:] == whole[14:17]
    assert detail.few(100).num_rows == len(whole)


AXES = {"area": ["n", "s"], "age": ["old", "young"], "work": ["yes", "no"]}
N = [0, 1, 2, 4]


@st.composite
def worlds(draw, margins):
    cells = draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    truth = CountTable.typed(AXES, np.array(cells).reshape(2, 2, 2))
    scheme = draw(st.sampled_from(["exact", "conventional:3", "random:2", "random:3"]))
    return truth, make_release(truth, margins, scheme, seed=draw(st.integers(0, 9)))


def sap_by_definition(release, truth, place, axes):
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
        expected = sap_by_definition(release, truth, (number,), [0])
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
        assert found.values[number] == pytest.approx(
            sap_by_definition(release, truth, place, [0, 1])
        )


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


def test_what_cannot_be_asked_within_areas():
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
