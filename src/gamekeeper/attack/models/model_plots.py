"""Models drawn: the graph of the variables, and how the search went.

Every plot is a figure of its own that needs no display.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.results.plotting import (
    COLOURS,
    GRID,
    MUTED,
    drawable,
    drawable_letters,
    name_bars,
    new_figure,
    ruled,
)
from gamekeeper.wording import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gamekeeper.attack.models.fitting import ModelFit
    from gamekeeper.attack.models.levels import RelativeRisk

_NAME_LETTERS = 26
_FAINTEST = 0.05
_MOST_POINTS = 2_000
_MOST_BARS = 30


def plot_model(fit: ModelFit) -> Figure:
    """Draw the variables in a circle, joined by edges that are as dark as they are probable."""
    letters = drawable_letters()
    n = len(fit.keys)
    figure = new_figure(7.2, 6.2)
    ax = figure.add_subplot()
    angles = [2 * math.pi * place / n + math.pi / 2 for place in range(n)]
    points = [(math.cos(angle), math.sin(angle)) for angle in angles]
    likely = fit.search.edge_probabilities()
    best = fit.search.best
    for v in range(n):
        for w in range(v + 1, n):
            chance = float(likely[v, w])
            if chance < _FAINTEST:
                continue
            is_best = bool(int(best[v]) >> w & 1)
            ax.plot(
                [points[v][0], points[w][0]],
                [points[v][1], points[w][1]],
                color=COLOURS[0] if is_best else COLOURS[1],
                alpha=0.15 + 0.85 * chance,
                linewidth=1 + 2 * chance,
                linestyle="-" if is_best else "--",
                zorder=1,
            )
    for name, angle, (x, y) in zip(fit.keys, angles, points, strict=True):
        ax.plot([x], [y], "o", color=MUTED, markersize=9, zorder=2)
        side = "left" if math.cos(angle) > 0.1 else "right" if math.cos(angle) < -0.1 else "center"
        ax.text(
            1.09 * x,
            1.09 * y,
            drawable(short(name, _NAME_LETTERS), letters),
            ha=side,
            va="bottom" if y > 0.9 else "top" if y < -0.9 else "center",
            parse_math=False,
        )
    ax.set_xlim(-1.9, 1.9)
    ax.set_ylim(-1.3, 1.3)
    ax.set_axis_off()
    ax.set_title("Model of the key variables: best model solid, other edges dashed", loc="left")
    return figure


def plot_trace(fit: ModelFit) -> Figure:
    """Plot the log marginal likelihood along each chain or run."""
    figure = new_figure(7.6, 3.8)
    ax = figure.add_subplot()
    for number, line in enumerate(np.atleast_2d(fit.search.trace)):
        step = max(len(line) // _MOST_POINTS, 1)
        places = np.arange(0, len(line), step)
        ax.plot(places, line[::step], color=COLOURS[number % len(COLOURS)], linewidth=0.9,
                label=f"chain {number + 1}")  # fmt: skip
    if fit.search.burn_in:
        ax.axvline(fit.search.burn_in, color=MUTED, linestyle=":", label="end of burn-in")
    ax.set_xlabel("draw")
    ax.set_ylabel("log marginal likelihood")
    ax.grid(color=GRID)
    ax.set_axisbelow(True)
    if fit.search.trace.size:
        ax.legend(frameon=False, fontsize=8, loc="best")
    return figure


def plot_relative(risk: RelativeRisk) -> Figure:
    """Draw how many population uniques are left without each variable or category."""
    lines = risk.lines[:_MOST_BARS]
    of_categories = any(line.category for line in lines)
    names = [
        f"category {place}" if of_categories else line.variable
        for place, line in enumerate(lines, 1)
    ]
    figure = new_figure(8.0, 1.4 + 0.3 * len(lines))
    ax = ruled(figure.add_subplot(), "x")
    values = [line.tau1_left for line in lines]
    spans = np.abs(np.array([line.tau1_range for line in lines]).T - np.array(values))
    ax.barh(range(len(lines)), values, xerr=spans, color=COLOURS[0], ecolor=MUTED, capsize=2)
    name_bars(ax, names, _NAME_LETTERS)
    ax.set_xlabel("Population uniques that are left without it")
    left = len(risk.lines) - len(lines)
    more = f" ({left:,} more not shown)" if left else ""
    what = "categories, by rank" if of_categories else "variables"
    ax.set_title(f"What is left without {what}{more}", loc="left")
    return figure
