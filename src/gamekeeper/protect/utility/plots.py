"""What a protected file lost, drawn: the farthest tables, and the share of each variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gamekeeper.results.plotting import COLOURS, GRID, MUTED, drawable, drawable_letters
from gamekeeper.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.protect.utility.result import Utility

_LETTERS = 40


def plot_utility(utility: Utility) -> Figure:
    """Plot the tables that are farthest from before, and what of each variable is lost."""
    from matplotlib.figure import Figure

    letters = drawable_letters()
    lost = [
        (line.variable, (line.bits_lost or 0.0) / line.bits_before if line.bits_before else 0.0)
        for line in utility.variables
    ]
    tables = [(table.name, table.distance) for table in utility.tables]
    height = 1.6 + 0.3 * max(len(lost), len(tables), 3)
    figure = Figure(figsize=(9.0, height), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax, lines, title, colour in (
        (left, tables, "Hellinger's distance, farthest tables", COLOURS[0]),
        (right, lost, "Lost of what a variable told, as a share", COLOURS[1]),
    ):
        _bars(ax, [(drawable(short(n, _LETTERS), letters), v) for n, v in lines], title, colour)
    return figure


def _bars(ax: Axes, lines: list[tuple[str, float]], title: str, colour: str) -> None:
    ax.set_title(title, fontsize=10, loc="left")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    if not lines:
        ax.text(0.0, 0.5, "as it was", color=MUTED, transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return
    places = list(range(len(lines)))[::-1]
    ax.barh(places, [value for _, value in lines], color=colour, height=0.62)
    ax.set_yticks(places, [name for name, _ in lines], fontsize=8)
    ax.tick_params(axis="y", length=0)
    top = max(value for _, value in lines)
    ax.set_xlim(0, 1.15 * top if top else 1.0)
    for place, (_, value) in zip(places, lines, strict=True):
        ax.text(value, place, f" {value:.2g}", va="center", fontsize=8, color=MUTED)
    ax.grid(axis="x", color=GRID)
    ax.set_axisbelow(True)
