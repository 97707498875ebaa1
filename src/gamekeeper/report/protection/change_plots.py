"""What protection did, drawn: attacks before and after, and the changed cells of each variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.results.plotting import COLOURS, GRID, MUTED, drawable, drawable_letters
from gamekeeper.wording import percent_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.protect.changes import ChangeLog

_LETTERS = 44


def plot_attacks(lines: Sequence[tuple[str, float, float, str]]) -> Figure:
    """Plot what attacks achieve before and after, as shares of what they achieved before.

    Every line has a name, both figures, and a text that has them as they are read.

    Examples
    --------
    >>> figure = plot_attacks([("unique records", 40.0, 0.0, "40 → 0")])
    >>> len(figure.axes)
    1
    """
    from matplotlib.figure import Figure

    letters = drawable_letters()
    figure = Figure(figsize=(9.0, 1.3 + 0.42 * max(len(lines), 1)), layout="constrained")
    ax = figure.subplots()
    places = _named_lines(ax, [name for name, *_ in lines])
    most = 1.0
    for place, (_, before, after, text) in zip(places, lines, strict=True):
        share = after / before if before else (0.0 if not after else 1.0)
        most = max(most, share)
        ax.plot([1.0 if before else 0.0, share], [place, place], color=GRID, linewidth=4, zorder=1)
        ax.scatter([1.0 if before else 0.0], [place], color=MUTED, s=36, zorder=2)
        ax.scatter([share], [place], color=COLOURS[0], s=52, zorder=3)
        ax.annotate(
            drawable(text, letters),
            (1.0, place),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=MUTED,
            annotation_clip=False,
        )
    ax.set_xlim(-0.03, most * 1.03)
    ax.set_ylim(-0.7, len(lines) - 0.3)
    ax.set_xlabel("after (blue) as a share of before (grey)", fontsize=9)
    ax.xaxis.set_major_formatter(lambda x, _: percent_text(x).replace(".0%", "%"))
    return figure


def plot_changes(log: ChangeLog, suppressed: str = "suppressed") -> Figure:
    """Plot the share of cells that were suppressed, or have another value, of each variable.

    `suppressed` is what the former are called.
    """
    from matplotlib.figure import Figure

    lines = [
        (name, change.n_suppressed, change.n_changed - change.n_suppressed)
        for name, change in log.variables.items()
        if change.n_changed
    ]
    figure = Figure(figsize=(9.0, 1.3 + 0.34 * max(len(lines), 1)), layout="constrained")
    ax = figure.subplots()
    if not lines:
        ax.text(0.0, 0.5, "no single cell was changed", color=MUTED, transform=ax.transAxes)
        ax.set_axis_off()
        return figure
    places = _named_lines(ax, [name for name, *_ in lines])
    total = max(log.n_records, 1)
    stars = [n_stars / total for _, n_stars, _ in lines]
    others = [changed / total for *_, changed in lines]
    ax.barh(places, stars, color=COLOURS[1], height=0.6, label=suppressed)
    ax.barh(places, others, left=stars, color=COLOURS[0], height=0.6, label="another value")
    ax.xaxis.set_major_formatter(lambda x, _: percent_text(x))
    ax.set_xlabel("share of the records", fontsize=9)
    if any(stars) and any(others):
        ax.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return figure


def _named_lines(ax: Axes, names: Sequence[str]) -> list[int]:
    """Give each name a line of its own, the first at the top, and return where the lines are."""
    letters = drawable_letters()
    places = list(range(len(names)))[::-1]
    ax.set_yticks(places, [drawable(short(name, _LETTERS), letters) for name in names], fontsize=9)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color=GRID)
    ax.set_axisbelow(True)
    return places
