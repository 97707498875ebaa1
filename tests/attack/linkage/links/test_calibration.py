from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.attack.linkage.links.calibration import by_margin, calibrate


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
