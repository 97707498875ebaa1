"""Plots of linkage; every plot is a figure of its own that needs no display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.results.plotting import (
    COLOURS,
    MUTED,
    drawable,
    drawable_letters,
    new_figure,
    ruled,
)
from gamekeeper.wording import count_of, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.linkage.evaluation import MaskingComparison
    from gamekeeper.attack.linkage.links.calibration import Band, Calibration
    from gamekeeper.attack.linkage.links.file_links import FileLinks
    from gamekeeper.attack.linkage.links.structure_links import StructureLinks

_BINS = 30
_SHOWN = 0.95


def plot_links(found: FileLinks) -> Figure:
    """Draw how margins are distributed; correct and wrong links apart where truth is known."""
    figure, ax = _figure(4.2)
    margins = found.margins
    linked = (found.linked.columns >= 0) & np.isfinite(margins)
    # A few records are unlike all others; with them on the axis, the rest would be one bar.
    most = float(np.quantile(margins[linked], _SHOWN)) if linked.any() else 0.0
    is_cut = 0 < 2 * most < margins[linked].max(initial=0.0)
    if is_cut:
        margins = np.minimum(margins, most, where=linked, out=margins.copy())
    correct = found.is_correct
    edges = np.histogram_bin_edges(margins[linked] if linked.any() else np.zeros(1), _BINS).tolist()
    if correct is None:
        ax.hist(margins[linked], edges, color=COLOURS[0])
    else:
        parts = [margins[linked & correct], margins[linked & ~correct]]
        ax.hist(
            parts, edges, stacked=True, color=[COLOURS[1], COLOURS[0]], label=["correct", "wrong"]
        )
        ax.legend(frameon=False, loc="best")
    n_alone = int(np.count_nonzero((found.linked.columns >= 0) & ~np.isfinite(margins)))
    cut = "; the last bar has all that is more" if is_cut else ""
    alone = f"; {n_alone:,} without second best not shown" if n_alone else ""
    ax.set_xlabel(f"cost of the second best less that of the best{cut}{alone}")
    ax.set_ylabel("links")
    return figure


def plot_maskings(found: MaskingComparison) -> Figure:
    """Draw the re-identification rate of each version, with its interval, by way of linking."""
    n_ways = len(found.methods)
    figure, ax = _figure(1.4 + 0.5 * len(found.names) * max(n_ways, 1) ** 0.5)
    letters = drawable_letters()
    for way, name in enumerate(found.methods):
        rates, low, high = np.array([version[way].rate_and_interval for version in found.links]).T
        places = np.arange(len(rates)) + (way - (n_ways - 1) / 2) * 0.16
        ax.errorbar(
            rates, places, xerr=[rates - low, high - rates], fmt="o",
            color=COLOURS[way % len(COLOURS)], capsize=3, label=drawable(name, letters),
        )  # fmt: skip
    ax.set_yticks(range(len(found.names)), [drawable(name, letters) for name in found.names])
    ax.set_ylim(len(found.names) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of records re-identified")
    figure.legend(frameon=False, loc="outside upper center", ncols=2)
    return figure


def plot_structure(found: StructureLinks) -> Figure:
    """Draw how much each clustering agrees, and what leaving it out costs where truth is known."""
    figure, ax = _figure(1.4 + 0.5 * len(found.clusterings))
    letters = drawable_letters()
    places = np.arange(len(found.clusterings))
    ax.barh(
        places, found.agreements, color=COLOURS[0], height=0.5, label="share of groups that agree"
    )
    if found.drops is not None:
        ax.scatter(
            found.drops, places, color=COLOURS[1], zorder=3,
            label="share of records that is lost without it",
        )  # fmt: skip
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.set_yticks(places, [drawable(name, letters) for name in found.clusterings])
    ax.invert_yaxis()
    ax.set_xlabel("share, in the first file")
    figure.legend(frameon=False, loc="outside upper center", ncols=2)
    return figure


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = new_figure(7.2, height)
    return figure, ruled(figure.add_subplot())


def plot_margin_shares(found: FileLinks) -> Figure:
    """Draw the share of right links by fifths of the margin; empty where truth is not known."""
    from gamekeeper.attack.linkage.links.calibration import by_margin

    correct = found.is_correct
    figure, ax = _figure(3.4)
    if correct is not None:
        bands = by_margin(found.margins, correct, found.linked.columns >= 0)
        _bands(ax, bands, [f"{band.low:.3g} to {band.high:.3g}" for band in bands])
    ax.set_xlabel("margin: cost of the second best less that of the best")
    return figure


def plot_calibration(found: Calibration) -> Figure:
    """Draw the share of right links by stated probability, and what was stated."""
    figure, ax = _figure(3.4)
    bands = found.bands
    _bands(ax, bands, [f"{share_text(band.low)} to {share_text(band.high)}" for band in bands])
    ax.scatter(
        range(len(bands)), [band.stated for band in bands], marker="_", s=400, color=COLOURS[1],
        zorder=3, label="stated on average",
    )  # fmt: skip
    ax.legend(frameon=False, loc="lower right")
    ax.set_xlabel("stated probability")
    return figure


def plot_came_back(found: StructureLinks) -> Figure:
    """Draw the share of right links by how many runs made them; how many, where truth is not known."""
    from gamekeeper.attack.linkage.links.steady_links import by_runs

    figure, ax = _figure(3.4)
    bands = by_runs(found)
    names = [f"{band.low:.0f}" for band in bands]
    if found.truth is None:
        ax.bar(names, [band.n_links for band in bands], color=COLOURS[0], width=0.6)
        ax.set_ylabel("links")
    else:
        _bands(ax, bands, names)
    ax.set_xlabel("runs on halves of the columns that made the link")
    return figure


def _bands(ax: Axes, bands: Sequence[Band], names: Sequence[str]) -> None:
    shares = [band.share for band in bands]
    ends = [band.interval for band in bands]
    low = [max(share - end[0], 0.0) for share, end in zip(shares, ends, strict=True)]
    high = [max(end[1] - share, 0.0) for share, end in zip(shares, ends, strict=True)]
    places = range(len(bands))
    ax.errorbar(
        places, shares, yerr=[low, high], fmt="o", capsize=3, color=COLOURS[0], label="right"
    )
    ax.set_xticks(
        places,
        [
            f"{name}\n{count_of(band.n_links, 'link')}"
            for name, band in zip(names, bands, strict=True)
        ],
    )
    ax.set_xlim(-0.5, max(len(bands) - 0.5, 0.5))
    ax.set_ylim(-0.02, 1.05)
    ax.set_ylabel("share of links that are right")
