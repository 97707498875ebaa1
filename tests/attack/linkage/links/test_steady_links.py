"""Links by structure, by the runs that made them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gamekeeper.attack.linkage.links.link_plots import plot_came_back
from gamekeeper.attack.linkage.links.steady_links import by_runs, runs_table
from gamekeeper.attack.linkage.structure import link_structure


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
