"""Schemes compared on random tables, and plots that show the numbers of their results."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.subtraction.zeros import BANDS
from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.comparison import compare_schemes
from gamekeeper.attack.tables.subtraction import subtract_known, subtract_within
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import three_digits
from tests.given.figures import drawn


def test_table_1_of_the_thesis():
    """Conventional rounding to base 5 of 1,200 tables; within 5 errors of the exact expectation."""
    found = compare_schemes(["conventional:5"], seed=2011)
    counts = found.experiments[0].counts
    assert counts.shape == (25, 12)
    assert counts.sum(axis=1).tolist() == [1_200] * 25
    # The expected numbers of tables with SAP 0, and between 0 and 0.1, for n = 2 and 3.
    for n, band, expected in (
        (2, 0, 27.1647),
        (2, 1, 1172.8106),
        (3, 1, 1130.2706),
        (3, 2, 41.8633),
    ):
        error = np.sqrt(expected * (1 - expected / 1_200))
        assert abs(counts[n, band] - expected) < 5 * error + 1


def test_all_schemes_get_the_same_tables():
    found = compare_schemes(["exact", "conventional:1", "random:1"], tables=40, n=[0, 3], seed=2)
    one, *others = found.experiments
    for other in others:
        assert np.array_equal(one.risks, other.risks)
    alone = compare_schemes(["random:5"], tables=40, seed=3)
    beside = compare_schemes(["exact", "random:5"], tables=40, seed=3)
    assert np.array_equal(alone.experiments[0].risks, beside.experiments[1].risks)


@pytest.mark.parametrize("scheme", ["conventional:3", "conventional:5", "suppressed:3"])
@pytest.mark.parametrize("margins", [None, [(0, 1), (0,), (1,)], [(1, 0), ()]])
def test_an_experiment_is_sap_of_each_table(scheme, margins):
    found = compare_schemes([scheme], shape=(2, 3), tables=6, margins=margins, n=[0, 2, 9], seed=4)
    rng = np.random.default_rng(4)
    tables = rng.poisson(2.0, (6, 2, 3))
    names = ("a", "b")
    listed = [(0, 1), ()] if margins is None else margins
    for number, table in enumerate(tables):
        truth = CountTable.typed({"a": range(2), "b": range(3)}, table)
        # Schemes without chance publish the same, whatever the seed.
        release = make_release(truth, [[names[axis] for axis in m] for m in listed], scheme)
        risk = subtract_known(release, truth, n=[0, 2, 9]).risk
        assert found.experiments[0].risks[number] == pytest.approx(risk.values, abs=1e-12)


def test_what_is_told():
    found = compare_schemes(["conventional:5", "random:5"], tables=50, n=range(0, 21, 5), seed=1)
    assert (
        found.sentences()[0] == "50 random tables, 2 x 6 cells of mean 2, published with the total."
    )
    means = {s: e.means for s, e in zip(found.schemes, found.experiments, strict=True)}
    order = sorted(means, key=lambda scheme: means[scheme][1])
    assert found.sentences()[1] == (
        "Knowing 5 people, a zero is recovered with a mean probability of: "
        f"{order[0]} {three_digits(means[order[0]][1])}, {order[1]} {three_digits(means[order[1]][1])}."
    )
    table = found.to_arrow()
    assert table.num_rows == 10
    assert table.column_names[:3] == ["scheme", "n", "mean_sap"]
    bands = np.array([table[f"sap_{band}"].to_pylist() for band in BANDS])
    assert bands.sum(axis=0).tolist() == [50] * 10
    assert found.few(2)["n"].to_pylist() == [0, 20, 0, 20]
    assert found.summary() == {
        "tables": 50, "n": 20,
        **{f"mean_sap {scheme}": pytest.approx(means[scheme][-1]) for scheme in found.schemes},
    }  # fmt: skip
    alone = compare_schemes(["conventional:5"], tables=5, total=False, n=[3])
    assert alone.sentences()[0].endswith("published alone.")


def test_the_same_seed_gives_the_same_result():
    schemes = ["random:3", "barnardization:0.5"]
    options = {"tables": 30, "n": [4, 8]}
    one, again = (compare_schemes(schemes, **options, seed=7) for _ in range(2))
    assert one.to_arrow() == again.to_arrow()
    assert one.provenance.fingerprint == again.provenance.fingerprint
    other = compare_schemes(schemes, **options, seed=8)
    assert one.to_arrow() != other.to_arrow()
    longer = compare_schemes(schemes, **{**options, "tables": 31}, seed=7)
    assert longer.provenance.fingerprint != one.provenance.fingerprint


def test_progress_counts_all_schemes():
    told = []
    compare_schemes(
        ["exact", "random:3"], tables=3, shape=(2, 2), margins=[(0,), (1,)], n=[1],
        progress=lambda done, whole: told.append((done, whole)),
    )  # fmt: skip
    assert told == [(k, 6) for k in range(1, 7)]


def test_what_cannot_be_asked_for():
    for call, reason in (
        (lambda: compare_schemes([]), Reason.NOTHING_GIVEN),
        (lambda: compare_schemes(["exact"], n=[]), Reason.NOTHING_GIVEN),
        (lambda: compare_schemes(["exact"], n=[-1]), Reason.BAD_OPTION),
        (lambda: compare_schemes(["exact"], shape=(0, 2)), Reason.BAD_OPTION),
        (lambda: compare_schemes(["conventional:4"]), Reason.BAD_OPTION),
        (lambda: compare_schemes(["rounding:4"]), Reason.UNKNOWN_NAME),
        (lambda: compare_schemes(["exact"], margins=[(0, 2)]), Reason.BAD_OPTION),
        (lambda: compare_schemes(["exact"], margins=[(0, 0)]), Reason.BAD_OPTION),
        (lambda: compare_schemes(["exact"], margins=[]), Reason.BAD_OPTION),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.reason is reason


AXES = {"$\\frac{": ["<b>", "一", "c"], "work": ["yes", "no"]}
TRUTH = CountTable.typed(AXES, [[4, 1], [6, 7], [0, 2]])


def test_bounds_are_intervals_and_dots():
    release = Release.typed(
        {"x": list("abcd")},
        [{"margin": ["x"], "scheme": "interval", "counts": [[0, 4], [3, 3], [1, None], [2, 3]]}],
    )
    ax = drawn(bound_cells(release).plot())
    lines, exact, endless = ax.collections
    ends = [segment[:, 1].tolist() for segment in lines.get_segments()]
    assert ends[:3] == [[3, 3], [2, 3], [0, 4]]
    assert ends[3][0] == 1
    assert ends[3][1] > 4
    assert exact.get_offsets().tolist() == [[0, 3]]
    assert endless.get_offsets()[0][0] == 3


def test_many_cells_are_thinned():
    truth = CountTable.typed({"x": range(1_000)}, np.arange(1_000))
    ax = drawn(bound_cells(make_release(truth, [("x",)], "random:3")).plot())
    assert len(ax.collections[0].get_segments()) == 400


@pytest.mark.parametrize("method", ["auto", "sampling"])
def test_sap_is_a_curve(method):
    release = make_release(TRUTH, [tuple(AXES)], "conventional:3")
    found = subtract_known(release, TRUTH, method=method, draws=100)
    ax = drawn(found.plot())
    assert ax.lines[0].get_ydata().tolist() == found.risk.values.tolist()
    assert ax.lines[0].get_xdata().tolist() == list(range(21))
    assert len(ax.collections) == (method == "sampling")


def test_areas_are_steps():
    release = make_release(TRUTH, [tuple(AXES)], "conventional:3")
    found = subtract_within(release, TRUTH, ["$\\frac{"], n=[1, 2])
    ax = drawn(found.plot())
    assert [line.get_label() for line in ax.lines] == ["1", "2"]
    for line, k in zip(ax.lines, range(2), strict=True):
        risks, shares = line.get_xdata(), line.get_ydata()
        for risk, share in zip(risks, shares, strict=True):
            # The share at a risk is that of all tables as risky, at the first of those with it.
            first = np.searchsorted(np.sort(found.values[:, k]), risk)
            assert share <= 1 - first / 3 + 1e-9
        assert sorted(risks) == sorted(found.values[:, k])


def test_schemes_are_curves_with_names():
    found = compare_schemes(["conventional:5", "random:5"], tables=20, n=range(6))
    ax = drawn(found.plot())
    assert [line.get_label() for line in ax.lines] == ["conventional:5", "random:5"]
    for line, experiment in zip(ax.lines, found.experiments, strict=True):
        assert line.get_ydata() == pytest.approx(experiment.means)
