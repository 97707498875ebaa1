"""Plots of what tables give away; every plot is a figure of its own that needs no display."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.results.plotting import COLOURS, GRID, MUTED, drawable, drawable_letters
from gamekeeper.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.tables.bounds import TableBounds
    from gamekeeper.attack.tables.comparison import SchemeComparison
    from gamekeeper.attack.tables.conditional import ConditionalSubtraction
    from gamekeeper.attack.tables.subtraction import SubtractionAttack

_MOST_CELLS = 400
_GRID_AXES, _GRID_LENGTH = 2, 24
_NAME_LETTERS = 22


def plot_bounds(found: TableBounds) -> Figure:
    """Draw what is known of each cell.

    A small table with two axes is drawn as it is, with the possible counts of each cell written in
    it. Of others the interval of each cell is drawn, cells that are known exactly first; beyond 400
    cells, evenly spaced ones.
    """
    if found.lower.ndim == _GRID_AXES and max(found.lower.shape) <= _GRID_LENGTH:
        return _plot_grid(found)
    figure, ax = _figure()
    upper = found.upper.reshape(-1)
    lower = found.lower.reshape(-1)
    largest = int(upper[upper < UNBOUNDED].max(initial=1))
    shown = np.where(upper >= UNBOUNDED, max(largest, int(lower.max(initial=0))) * 1.1 + 1, upper)
    order = np.lexsort((lower, shown - lower))
    if order.size > _MOST_CELLS:
        order = order[np.linspace(0, order.size - 1, _MOST_CELLS).astype(np.int64)]
    places = np.arange(order.size)
    ax.vlines(places, lower[order], shown[order], color=COLOURS[0], linewidth=1.6)
    exact = lower[order] == upper[order]
    ax.scatter(places[exact], lower[order][exact], s=9, color=COLOURS[1], zorder=3)
    endless = upper[order] >= UNBOUNDED
    ax.scatter(places[endless], shown[order][endless], s=12, marker="^", color=MUTED, zorder=3)
    ax.set_xlabel("cells, the narrowest interval first (dots: known exactly)")
    ax.set_ylabel("possible counts")
    ax.set_xticks([])
    return figure


def _plot_grid(found: TableBounds) -> Figure:
    """Draw a table: cells that are certainly empty, known exactly, or open, each in its shade."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    n_rows, n_columns = found.lower.shape
    figure = Figure(figsize=(2.4 + 0.62 * n_columns, 1.9 + 0.36 * n_rows), layout="constrained")
    ax = figure.add_subplot()
    known = found.lower == found.upper
    shades = ("#f4f6f8", "#f3c9a2", COLOURS[1])
    state = np.where(found.upper == 0, 2, np.where(known, 1, 0))
    # As vectors: a report shows no embedded picture, since its page may load none.
    edges = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    ax.pcolormesh(
        *edges, state, cmap=ListedColormap(shades), vmin=0, vmax=2, edgecolors="white", linewidth=1
    )
    ax.invert_yaxis()
    for row, column in np.ndindex(n_rows, n_columns):
        low, high = int(found.lower[row, column]), int(found.upper[row, column])
        text = str(low) if low == high else f"{low}+" if high >= UNBOUNDED else f"{low}-{high}"
        ax.text(column, row, text, ha="center", va="center", fontsize=8)
    letters = drawable_letters()
    rows, columns = (
        [drawable(short(name, _NAME_LETTERS), letters) for name in axis.categories]
        for axis in found.axes
    )
    ax.set_yticks(range(n_rows), rows)
    ax.set_xticks(range(n_columns), columns, rotation=40, ha="right")
    ax.set_ylabel(drawable(found.axes[0].name, letters))
    ax.set_xlabel(drawable(found.axes[1].name, letters))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    names = ("open", "known exactly", "certainly empty")
    patches = [
        Patch(facecolor=shade, label=name) for shade, name in zip(shades, names, strict=True)
    ]
    figure.legend(handles=patches, loc="outside upper right", ncols=3, frameon=False, fontsize=8)
    return figure


def plot_subtraction(found: SubtractionAttack) -> Figure:
    """Draw SAP over the number of known people, with what it lies between where it is estimated."""
    figure, ax = _figure()
    risk = found.risk
    if risk.draws:
        ax.fill_between(risk.n, risk.lower, risk.upper, color=COLOURS[0], alpha=0.2, linewidth=0)
    ax.plot(risk.n, risk.values, color=COLOURS[0], marker=".", markersize=4)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("people known")
    ax.set_ylabel("probability of recovering a zero")
    return figure


def plot_tables(found: ConditionalSubtraction) -> Figure:
    """Draw for each number of known people the share of tables whose SAP is above a value."""
    figure, ax = _figure()
    share = np.linspace(1, 0, found.n_tables, endpoint=False)
    for k, number in enumerate(found.n):
        colour = COLOURS[k % len(COLOURS)]
        ax.step(np.sort(found.values[:, k]), share, color=colour, label=str(number), where="post")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("probability of recovering a zero")
    ax.set_ylabel("share of tables at least as risky")
    ax.legend(title="people known", frameon=False, loc="best")
    return figure


def plot_comparison(found: SchemeComparison) -> Figure:
    """Draw the mean SAP of each scheme over the number of known people."""
    figure, ax = _figure()
    letters = drawable_letters()
    for k, (scheme, one) in enumerate(zip(found.schemes, found.experiments, strict=True)):
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(
            one.n,
            one.means,
            color=colour,
            marker=".",
            markersize=4,
            label=drawable(scheme, letters),
        )
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("people known")
    ax.set_ylabel("mean probability of recovering a zero")
    ax.legend(frameon=False, loc="best")
    return figure


def _figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.add_subplot()
    ax.grid(color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return figure, ax
