"""Links held against the truth: by probability, margin and runs, and plots that show their numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gamekeeper.attack.linkage.columns import LinkVariable
from gamekeeper.attack.linkage.files import compare_maskings, link_files
from gamekeeper.attack.linkage.structure import link_structure
from gamekeeper.attack.linkage.truth import (
    by_margin,
    by_runs,
    calibrate,
    plot_came_back,
    runs_table,
    share_interval,
)
from tests.given.figures import drawn
from tests.given.linked_files import file_of


def test_probabilities_that_hold_are_calibrated():
    rng = np.random.default_rng(1)
    stated = rng.uniform(0.5, 1.0, 2_000)
    found = calibrate(stated, rng.random(2_000) < stated)
    assert found.verdict == "yes"
    assert found.sentence().endswith("they are calibrated as far as these links tell.")
    assert sum(band.n_links for band in found.bands) == found.all.n_links == 2_000
    table = found.to_arrow()
    assert table["links"].to_pylist() == [band.n_links for band in found.bands]
    assert table.column_names[-1] == "stated"


def test_probabilities_that_promise_too_much_are_not():
    found = calibrate(np.full(100, 0.99), np.arange(100) < 50)
    assert found.verdict == "no"
    assert "only order the links" in found.sentence()
    assert found.all.share == 0.5
    assert not found.bands[0].holds


def test_few_links_and_none_tell_nothing():
    assert calibrate(np.array([0.9]), np.array([True])).verdict == "not known"
    nothing = calibrate(np.array([np.nan]), np.array([False]))
    assert nothing.sentence().startswith("Nothing is linked")
    assert nothing.bands == ()


def test_bands_of_margins_have_all_links_once():
    margins = np.array([0.0, 0.0, 1.0, 2.0, 3.0, np.inf, 5.0])
    correct = np.array([False, False, True, True, True, True, True])
    linked = np.array([True, True, True, True, True, True, False])
    bands = by_margin(margins, correct, linked)
    assert sum(band.n_links for band in bands) == 5
    assert [band.low for band in bands] == sorted(band.low for band in bands)
    assert bands[0].share < bands[-1].share
    same = by_margin(np.ones(4), np.ones(4, bool), np.ones(4, bool))
    assert [(band.n_links, band.low, band.high) for band in same] == [(4, 1.0, 1.0)]
    assert by_margin(np.full(2, np.nan), np.zeros(2, bool), np.ones(2, bool)) == ()
    assert same[0].stated != pytest.approx(1.0)


X = [LinkVariable("x", kind="number")]


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


def test_links_are_counted_by_the_runs_that_made_them():
    rng = np.random.default_rng(2)
    hidden = rng.normal(size=(24, 3))
    a, b = (hidden @ rng.normal(size=(3, n)) for n in (8, 9))
    found = link_structure(a, b, truth=np.arange(24))
    steady = found.steady
    assert steady is not None
    slow = {
        votes: [found.links[k] == k for k in range(24) if steady.votes[k] == votes]
        for votes in sorted({*steady.votes.tolist()})
    }
    assert {band.low: (band.n_links, band.n_right) for band in by_runs(found)} == {
        votes: (len(right), sum(right)) for votes, right in slow.items()
    }
    assert runs_table(found).column_names[:3] == ["runs", "links", "right"]
    assert plot_came_back(found).axes[0].get_ylabel() == "share of links that are right"
    untold = replace(found, truth=None)
    assert runs_table(untold).column_names == ["runs", "links"]
    assert plot_came_back(untold).axes[0].get_ylabel() == "links"
    assert runs_table(replace(found, steady=None)) is None
