"""Plots of linkage show the numbers of their results, whatever the names."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gamekeeper.attack.linkage.columns.variables import LinkVariable
from gamekeeper.attack.linkage.evaluation import compare_maskings
from gamekeeper.attack.linkage.files import link_files
from gamekeeper.attack.linkage.structure import link_structure
from gamekeeper.attack.linkage.truth import share_interval
from tests.given.linked_files import file_of

X = [LinkVariable("x", kind="number")]


def drawn(figure):
    """Save the figure, which makes matplotlib tell of what it cannot draw."""
    figure.savefig(io.BytesIO(), format="png")
    return figure.axes[0]


def files(seed=0, n=40):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, n)
    return file_of({"x": values + rng.normal(0, 0.02, n)}), file_of({"x": values})


def heights(container):
    return sum(bar.get_height() for bar in container)


def test_margins_are_a_histogram_of_links():
    a, b = files()
    ax = drawn(link_files(a, b, X, everybody=True).plot())
    assert heights(ax.containers[0]) == 40
    found = link_files(a, b, X, everybody=True, truth=np.arange(40))
    ax = drawn(found.plot())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["correct", "wrong"]
    correct, wrong = (heights(container) for container in ax.containers)
    assert (correct, wrong) == (found.n_correct, 40 - found.n_correct)
    assert 0 < found.n_correct < 40


def test_a_record_unlike_all_others_does_not_squeeze_the_rest():
    values = [*(number**2 for number in range(39)), 10**6]
    found = link_files(file_of({"x": values}), file_of({"x": values}), X, objective="equal")
    ax = drawn(found.plot())
    assert heights(ax.containers[0]) == 40
    assert ax.get_xlabel().endswith("; the last bar has all that is more")
    assert ax.patches[-1].get_x() < found.margins.max() / 100
    assert found.margins.max() > 100 * np.median(found.margins)


def test_links_without_a_second_best_are_counted_below():
    a, b = file_of({"x": [1, 2], "s": "fm"}), file_of({"x": [2, 1], "s": "mf"})
    found = link_files(a, b, [*X, LinkVariable("s")], everybody=True, block=["s"])
    ax = drawn(found.plot())
    assert ax.get_xlabel().endswith("; 2 without second best not shown")
    assert heights(ax.containers[0]) == 0


def test_rates_are_dots_with_their_intervals():
    a, b = files()
    names = {"$\\frac{": a, "一 <b>": b}
    found = compare_maskings(b, names, X, truths=dict.fromkeys(names, np.arange(40)))
    figure = found.plot()
    ax = drawn(figure)
    assert len(ax.containers) == len(found.methods) == 2
    for way, container in enumerate(ax.containers):
        line, _, bars = container.lines
        for version, (rate, segment) in enumerate(
            zip(line.get_xdata(), bars[0].get_segments(), strict=True)
        ):
            one = found.links[version][way]
            assert rate == one.n_correct / 40
            assert segment[:, 0] == pytest.approx(share_interval(one.n_correct, 40))
    assert len(ax.get_yticklabels()) == 2
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == list(found.methods)


@pytest.mark.slow
def test_clusterings_are_bars_and_what_they_carry_dots():
    rng = np.random.default_rng(1)
    values = np.repeat([[0.0, 0], [9, 1], [2, 8]], [9, 7, 4], axis=0) + rng.normal(size=(20, 2))
    copy = values + rng.normal(0, 0.6, values.shape)
    found = link_structure(values, copy, n_clusters=4, truth=np.arange(20), leave_out=True)
    figure = found.plot()
    ax = drawn(figure)
    assert [bar.get_width() for bar in ax.patches] == found.agreements.tolist()
    assert ax.collections[0].get_offsets()[:, 0].tolist() == found.drops.tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(found.clusterings)
    # The legend covers no bar.
    assert figure.legends
    assert ax.get_legend() is None
    plain = drawn(link_structure(values, copy, n_clusters=4).plot())
    assert not plain.collections
