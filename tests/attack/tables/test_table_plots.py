"""Plots of tables show the numbers of their results, whatever the names."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.comparison import compare_schemes
from gamekeeper.attack.tables.conditional import subtract_within
from gamekeeper.attack.tables.subtraction import subtract_known
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release

AXES = {"$\\frac{": ["<b>", "一", "c"], "work": ["yes", "no"]}
TRUTH = CountTable.typed(AXES, [[4, 1], [6, 7], [0, 2]])


def drawn(figure):
    """Save the figure, which makes matplotlib tell of what it cannot draw."""
    figure.savefig(io.BytesIO(), format="png")
    return figure.axes[0]


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
