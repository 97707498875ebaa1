from __future__ import annotations

import itertools
import random as randoms

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gamekeeper as gk
from gamekeeper.algorithms.bounds import integer_bounds
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.attack.tables.bounds import bound_cells, bound_recoded
from gamekeeper.attack.tables.insiders import Standing
from gamekeeper.attack.tables.options import BoundsMethod
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.data.tables.release_file import read_release, write_release
from gamekeeper.data.tables.table_set import TableSet, cells_of_release
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.count_tables import random_release, truths
from tests.twins import integer_programs, possible_tables

R4 = {"R": ["a", "b", "c", "d"], "C": ["e", "f", "g", "h"]}
PAIRS = [("A", "B"), ("A", "C"), ("B", "C")]
SIX = list(itertools.combinations("ABCD", 2))
CUBE = {"A": ["a0", "a1"], "B": ["b0", "b1"], "C": ["c0", "c1"]}


def as_release(constraints):
    """Write constraints as a release of intervals, which hold any of them."""
    axes = {f"v{k}": [f"c{j}" for j in range(n)] for k, n in enumerate(constraints.shape)}
    tables = []
    for number, margin in enumerate(constraints.margins):
        names, groups = [], {}
        for name, own, size in zip(axes, margin.groups, margin.shape, strict=True):
            if size == 1:
                continue
            names.append(name)
            groups[name] = {
                f"g{k}": [f"c{j}" for j in np.flatnonzero(own == k)] for k in range(size)
            }
        kept = tuple(size for size in margin.shape if size > 1)
        ends = np.stack([margin.lower, margin.upper], axis=-1).reshape(*kept, 2)
        tables.append(
            {"margin": names, "groups": groups, "name": f"t{number}", "scheme": "interval",
             "counts": _pairs(ends.tolist())}
        )  # fmt: skip
    return Release.typed(axes, tables)


def _pairs(nested):
    if isinstance(nested[0], list):
        return [_pairs(part) for part in nested]
    return [nested[0], None if nested[1] >= UNBOUNDED else nested[1]]


@given(possible_tables.releases(can_conflict=False))
def test_every_method_finds_the_bounds_of_all_tables(constraints):
    release = as_release(constraints)
    lower, upper = possible_tables.bounds_by_enumeration(constraints)
    for method in ("auto", "integer", "shuttle"):
        found = bound_cells(release, method=method)
        assert found.lower.reshape(-1).tolist() == lower.tolist(), method
        assert found.upper.reshape(-1).tolist() == upper.tolist(), method
        assert found.tight.all(), method


@given(truths(), st.data())
def test_closed_forms_are_those_of_integer_programs(truth, data):
    """Chains of exact margins, each with the axis it shares with the one before."""
    names = list(truth.names)
    margins = data.draw(
        st.sampled_from([[names], [[name] for name in names], [names[:2], names[1:]], [[], names]])
    )
    release = make_release(truth, margins)
    closed = bound_cells(release, method="closed")
    assert closed.provenance.variant != "integer programs"
    assert closed.tight.all()
    for method in BoundsMethod:
        found = bound_cells(release, method=method)
        assert np.array_equal(found.lower, closed.lower)
        assert np.array_equal(found.upper, closed.upper)


@given(truths(), st.randoms(use_true_random=False))
def test_bounds_contain_the_truth_under_every_scheme(truth, random):
    release = random_release(truth, random)
    found = bound_cells(release)
    counts = truth.dense()
    assert np.all(found.lower <= counts)
    assert np.all(counts <= found.upper)
    assert found.tight.all()


@given(possible_tables.releases(can_conflict=False), st.randoms(use_true_random=False))
def test_recoded_bounds_are_those_of_all_tables(constraints, random):
    release = as_release(constraints)
    groups, numbers, keep, sizes = {}, [], [], []
    for axis in release.axes:
        kind = random.choice(["kept", "out", "grouped"])
        own = np.zeros(len(axis), np.int64)
        if kind == "kept":
            own = np.arange(len(axis))
        elif kind == "grouped":
            own = np.unique([random.randint(0, 1) for _ in axis.categories], return_inverse=True)[1]
            groups[axis.name] = {
                f"new {k}": [c for c, j in zip(axis.categories, own, strict=True) if j == k]
                for k in range(own.max() + 1)
            }
        if kind != "out":
            keep.append(axis.name)
            sizes.append(int(own.max()) + 1)
        numbers.append(own)
    flat = np.zeros(release.size, np.int64)
    for place, cell in enumerate(itertools.product(*(range(n) for n in release.shape))):
        for own, k in zip(numbers, cell, strict=True):
            flat[place] = flat[place] * (own.max() + 1) + own[k]
    lower, upper = possible_tables.bounds_by_enumeration(constraints, flat)
    found = bound_recoded(release, groups, keep=keep)
    assert found.lower.shape == tuple(sizes)
    assert found.lower.reshape(-1).tolist() == lower.tolist()
    assert found.upper.reshape(-1).tolist() == upper.tolist()
    assert [axis.name for axis in found.axes] == keep
    for axis in found.axes:
        assert axis.categories == tuple(groups.get(axis.name, release.axes[
            release.names.index(axis.name)].categories))  # fmt: skip


@given(truths(), st.integers(0, 3))
def test_recoded_bounds_of_exact_margins_are_those_of_programs(truth, seed):
    random = randoms.Random(seed)
    release = make_release(truth, [[name] for name in truth.names])
    name = random.choice(truth.names)
    joined = {"all": list(truth.axis(name).categories)}
    found = bound_recoded(release, {name: joined})
    axis = truth.names.index(name)
    numbers = np.arange(truth.size).reshape(truth.shape)
    kept = np.broadcast_to(np.take(numbers, [0], axis), truth.shape).reshape(-1)
    flat = np.unique(kept, return_inverse=True)[1]
    lower, upper = integer_programs.recoded_bounds(release.constraints, flat, found.lower.shape)
    assert np.array_equal(found.lower, lower)
    assert np.array_equal(found.upper, upper)


def test_suppression_that_hides_nothing():
    """Figures 4 to 6 of the thesis: one hidden cell, hidden margins, four hidden cells."""
    table = [[0, 3, 0, 1], [0, None, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]]
    rows, columns = [4, 1, 7, 9], [5, 5, 7, 4]

    def bounds(cells, rows, columns, total):
        release = Release.typed(
            R4,
            [
                {"margin": ["R", "C"], "counts": cells},
                {"margin": ["R"], "counts": rows},
                {"margin": ["C"], "counts": columns},
                {"margin": [], "counts": total},
            ],
        )
        return bound_cells(release)

    known = bounds(table, rows, columns, 21)
    assert known.n_known == 16
    assert known.lower[1, 1] == 1
    assert "Of 16 cells, 16 can be worked out exactly, and 7 are certainly empty." in (
        known.sentences()
    )
    hidden = bounds(table, [4, None, 7, 9], [5, None, 7, 4], None)
    assert (hidden.lower[1, 1], hidden.upper[1, 1]) == (0, UNBOUNDED)
    assert hidden.summary()["without_limit"] == 1
    assert "1 cell could have any count from the lower bound up." in hidden.sentences()
    assert hidden.to_arrow()["upper"].to_pylist()[5] is None
    table[0], table[1] = [0, None, 0, None], [0, None, 0, None]
    four = bounds(table, rows, columns, 21)
    assert four.lower[:2].tolist() == [[0, 3, 0, 0], [0, 0, 0, 0]]
    assert four.upper[:2].tolist() == [[0, 4, 0, 1], [0, 1, 0, 1]]
    assert "4 cells have 2 possible counts each." in four.sentences()


def test_each_answer_says_why_it_is_tight():
    truth = CountTable.typed(CUBE, [[[0, 1], [1, 3]], [[1, 1], [1, 0]]])
    told = {
        (("A", "B", "C"),): ("single table", "no published sum ties cells together"),
        (("A", "B"), ("B", "C")): ("closed form", "form a decomposable model"),
        tuple(PAIRS): ("integer programs", "found by integer programs"),
    }
    for margins, (method, why) in told.items():
        found = bound_cells(make_release(truth, margins))
        assert found.provenance.variant == method
        assert why in found.why
    found = bound_cells(make_release(truth, PAIRS), method="shuttle")
    assert "settled 27 sums of cells" in found.why
    assert np.array_equal(found.lower, truth.dense())
    assert np.array_equal(found.upper, truth.dense())


def test_many_short_axes_are_left_to_the_shuttle():
    axes = {name: ["0", "1"] for name in "ABCDE"}
    counts = np.random.default_rng(5).poisson(1, (2,) * 5)
    release = make_release(CountTable.typed(axes, counts), list(itertools.combinations(axes, 2)))
    found, programs = bound_cells(release), bound_cells(release, method="integer")
    assert found.provenance.variant == "generalized shuttle"
    assert programs.provenance.variant == "integer programs"
    assert found.tight.all()
    assert np.array_equal(found.lower, programs.lower)
    assert np.array_equal(found.upper, programs.upper)


def test_what_the_shuttle_leaves_is_left_to_programs(monkeypatch):
    axes = {name: ["0", "1"] for name in "ABCDE"}
    counts = np.random.default_rng(5).poisson(1, (2,) * 5)
    release = make_release(CountTable.typed(axes, counts), list(itertools.combinations(axes, 2)))
    expected = bound_cells(release, method="integer")
    monkeypatch.setattr("gamekeeper.attack.tables.bounding._SHUTTLE_STEPS", 3)
    found = bound_cells(release)
    assert found.provenance.variant == "shuttle and integer programs"
    assert found.tight.all()
    assert np.array_equal(found.lower, expected.lower)
    assert np.array_equal(found.upper, expected.upper)


def test_parts_that_cannot_be_decomposed_are_put_together():
    axes = {name: ["0", "1"] for name in "ABCDE"}
    counts = np.random.default_rng(3).poisson(2, (2,) * 5)
    margins = [("A", "B"), ("B", "C"), ("A", "C"), ("C", "D", "E")]
    release = make_release(CountTable.typed(axes, counts), margins)
    found = bound_cells(release)
    assert found.provenance.variant == "2 irreducible components"
    lower, upper = integer_programs.integer_bounds(release.constraints)
    assert np.array_equal(found.lower, lower)
    assert np.array_equal(found.upper, upper)


@pytest.mark.parametrize(("names", "margins"), [("ABCD", SIX), ("ABCDE", [*SIX, ("D", "E")])])
def test_a_limit_on_programs_leaves_bounds_that_hold(names, margins):
    axes = {name: ["0", "1"] for name in names}
    counts = np.random.default_rng(4).poisson(1, (2,) * len(axes))
    release = make_release(CountTable.typed(axes, counts), margins)
    whole, few = bound_cells(release), bound_cells(release, most_programs=1)
    assert whole.tight.all()
    assert np.all(few.lower <= whole.lower)
    assert np.all(few.upper >= whole.upper)
    exact = (few.lower == whole.lower) & (few.upper == whole.upper)
    assert np.all(exact[few.tight])
    assert not few.tight.all()
    assert "need not be tight" in few.why


def test_counts_that_contradict_each_other_are_named():
    axes = {"sex": ["f", "m"], "work": ["yes", "no"]}
    release = Release.typed(
        axes,
        [
            {"margin": ["sex", "work"], "scheme": "conventional:3", "counts": [[3, 0], [3, 3]]},
            {"margin": ["sex"], "counts": [9, 6]},
        ],
    )
    words = {release.row_words(row) for row in range(6)}
    for method in BoundsMethod:
        if method is BoundsMethod.CLOSED:
            continue
        with pytest.raises(InputError) as caught:
            bound_cells(release, method=method)
        error = caught.value
        assert error.reason is Reason.CONFLICTING_COUNTS
        where = [problem.where for problem in error.problems]
        assert set(where) <= words
        assert where == [
            "table 'sex by work', sex=f, work=yes: published 3",
            "table 'sex by work', sex=f, work=no: published 0",
            "table 'sex', sex=f: published 9",
        ]
        assert "without any one of them the others could hold" in error.found
    with pytest.raises(InputError) as caught:
        bound_recoded(release, {}, keep=["work"])
    assert caught.value.reason is Reason.CONFLICTING_COUNTS


def test_single_tables_that_contradict_each_other():
    table = {"margin": ["sex"], "counts": [3, 1]}
    other = {"margin": ["sex"], "counts": [3, 2]}
    with pytest.raises(InputError) as caught:
        bound_cells(Release.typed({"sex": ["f", "m"]}, [table, other]))
    assert len(caught.value.problems) == 2


def test_what_cannot_be_asked_for():
    release = make_release(CountTable.typed(CUBE, np.ones((2, 2, 2), int)), PAIRS, "random:3")
    with pytest.raises(InputError, match="closed form") as caught:
        bound_cells(release, method="closed")
    assert caught.value.reason is Reason.BAD_OPTION
    with pytest.raises(InputError) as caught:
        bound_recoded(release, {"a": {"x": ["a0"]}, "B": {"x": ["b0"], "y": ["b0"]}}, keep=["D"])
    assert [problem.where for problem in caught.value.problems] == ["axis 'a'", "axis 'D'"]
    with pytest.raises(InputError) as caught:
        bound_recoded(release, {"A": {"x": ["a0"]}, "B": {"x": ["b0", "b1"], "y": ["b0"]}})
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.NOT_A_CATEGORIZATION
    ] * 2
    assert "'a1'" in str(caught.value)
    with pytest.raises(LimitError) as caught:
        bound_cells(release, method="shuttle", max_nodes=20)
    assert caught.value.reason is Reason.TOO_LARGE
    assert "27 sums" in str(caught.value)
    assert "max_nodes" in str(caught.value)


def test_an_axis_may_be_called_like_a_column():
    release = Release.typed({"upper": ["x", "y"]}, [{"margin": ["upper"], "counts": [1, 2]}])
    assert bound_cells(release).to_arrow().column_names == [
        "upper", "lower", "upper_bound", "tight",
    ]  # fmt: skip


def test_a_written_release_has_the_same_bounds(tmp_path):
    truth = CountTable.typed(CUBE, np.random.default_rng(2).poisson(1, (2, 2, 2)))
    release = make_release(truth, [("A", "B"), ("C",), ()], "random:3", seed=5)
    write_release(release, tmp_path / "release.json", truth)
    again = bound_cells(read_release(tmp_path / "release.json"))
    assert again.to_arrow() == gk.bound_cells(release).to_arrow()


def test_the_cells_known_best_come_first():
    release = Release.typed(
        {"sex": ["f", "m", "x"]},
        [{"margin": ["sex"], "scheme": "interval", "counts": [[0, 4], [3, 3], [1, None]]}],
    )
    assert bound_cells(release).top(3)["sex"].to_pylist() == ["m", "f", "x"]


def test_the_total_is_what_is_left_without_axes():
    truth = CountTable.typed({"sex": ["f", "m"]}, [4, 6])
    found = bound_recoded(make_release(truth, [("sex",)], "conventional:3"), {}, keep=[])
    # 3 stands for 2 to 4, and 6 for 5 to 7.
    assert found.to_arrow().to_pylist() == [{"lower": 7, "upper": 11, "tight": True}]


def test_a_method_that_is_not_there():
    release = make_release(CountTable.typed({"sex": ["f", "m"]}, [4, 6]), [("sex",)])
    with pytest.raises(InputError) as caught:
        bound_cells(release, method="shuttel")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "'shuttle'" in str(caught.value)


def test_a_search_that_nobody_limits_is_given_up(monkeypatch):
    monkeypatch.setattr(integer_bounds, "MOST_PROGRAMS", 1)
    axes = {name: ["0", "1"] for name in "ABCD"}
    counts = np.random.default_rng(4).poisson(1, (2,) * 4)
    release = make_release(CountTable.typed(axes, counts), SIX)
    assert not bound_cells(release).tight.all()
    assert "most_programs" in bound_cells(release).why
    assert bound_cells(release, most_programs=10_000).tight.all()


def test_a_base_table_that_no_method_can_hold_is_refused():
    axes = [Axis(f"v{k}", tuple(map(str, range(100)))) for k in range(6)]
    truth = CountTable.of_cells(axes, [5, 10**11], [2, 3])
    rounded = make_release(truth, [("v0", "v1"), ("v2",), ()], "conventional:3")
    for attack in (
        lambda: bound_cells(rounded),
        lambda: bound_recoded(rounded, {}, keep=["v0"]),
        lambda: gk.infer_attributions(rounded),
        lambda: gk.tables.explore_tables(rounded),
        lambda: gk.subtract_known(rounded, truth),
        lambda: gk.tables.subtract_within(rounded, truth, ["v0"]),
    ):
        with pytest.raises(LimitError) as caught:
            attack()
        assert "1,000,000,000,000 cells" in str(caught.value)
    exact = make_release(truth, [("v0", "v1"), ("v1", "v2")], "exact")
    assert bound_recoded(exact, {}, keep=["v0", "v2"]).upper[0, 0] == 2


def test_a_conflict_that_is_not_found_in_time_is_told_all_the_same(monkeypatch):
    def too_slow(constraints, max_seconds):
        raise LimitError(Reason.TOO_LARGE, "", "", "")

    monkeypatch.setattr("gamekeeper.algorithms.bounds.integer_bounds.find_conflict", too_slow)
    axes = {"a": ["1", "2"], "b": ["1", "2"]}
    counts = [{"margin": ["a"], "counts": [1, 2]}, {"margin": ["b"], "counts": [1, 5]}]
    with pytest.raises(InputError) as caught:
        bound_cells(Release.typed(axes, counts), method="integer")
    assert caught.value.reason == Reason.CONFLICTING_COUNTS
    assert "There was no time to find" in str(caught.value)


BOUNDED = ["exact", "conventional:3", "random:2", "suppressed:3", "suppressed:3", "suppressed:2"]


@given(truths(), st.randoms(use_true_random=False))
def test_rules_stand_as_all_possible_tables_say(truth, random):
    release = random_release(truth, random, BOUNDED)
    sums = [margin.sums for margin in release.constraints.margins]
    assume(
        truth.size <= 8 and all((m.upper < UNBOUNDED).all() for m in release.constraints.margins)
    )
    most = possible_tables.largest_values(release.constraints)
    assume(np.prod(most + 1.0) <= 20_000)
    tables = [one.reshape(release.shape) for one in possible_tables.all_tables(release.constraints)]
    wanted = [(own, concealed) for own, concealed in zip(sums, release.concealed, strict=True)]
    if not any(concealed.size == release.size for concealed in release.concealed):
        wanted.append((lambda table: table, np.ones(release.shape, bool)))
    values = [np.array([own(table)[concealed] for table in tables]) for own, concealed in wanted]
    widths = np.concatenate([own.max(axis=0) - own.min(axis=0) for own in values])
    (one,) = bound_cells(release, rules=["exact"]).standings
    if not len(widths):
        assert one.standing is Standing.NOT_PROVEN
        assert "no cell is hidden" in one.sentence()
    else:
        assert one.standing is (Standing.MET if widths.all() else Standing.BROKEN)


@given(truths(), st.randoms(use_true_random=False))
def test_bounds_and_audit_hold_a_release_to_the_same_rules(truth, random):
    margins = [truth.names, *random.sample([truth.names[:1], truth.names[1:], ()], 2)]
    schemes = [random.choice(BOUNDED[-3:]), *random.choices(["exact", *BOUNDED[-3:]], k=2)]
    release = make_release(truth, margins, schemes)
    rules = ["exact", "within:10", "within:40", "levels", "p:10"]
    bounds = bound_cells(release, rules=rules)
    audit = audit_tables(TableSet.of(*cells_of_release(release)), rules=rules)
    assert [one.standing for one in bounds.standings] == [one.standing for one in audit.standings]
    assert bounds.is_met == audit.is_met


def test_figure_4_of_the_thesis_keeps_no_rule():
    counts = [[0, 4, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]]
    truth = CountTable.typed(R4, counts)
    release = make_release(truth, [("R", "C"), ("R",), ("C",), ()], "suppressed:2")
    found = bound_cells(release, rules=["exact"])
    assert not found.is_met
    assert found.summary()["rules_met"] == 0
    assert found.sentences()[-2:] == [
        "Rule exact is broken (no hidden cell can be recomputed): 6 cells break it.",
        "1 cell that breaks rule exact is of margins, which --keep of tables bounds shows.",
    ]
    assert found.to_arrow()["rules"].to_pylist().count("exact broken") == 5
    # Without margins, what is hidden is known by the scheme alone: a count below 2 and above 0.
    alone = make_release(truth, [("R", "C")], "suppressed:2")
    assert not bound_cells(alone, rules=["exact"]).is_met
    assert bound_cells(make_release(truth, [("R", "C")], "suppressed:3"), rules=["exact"]).is_met
