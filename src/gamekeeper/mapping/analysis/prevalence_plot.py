"""Code size against prevalence, plotted: how much detail is left as more forms must share it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gamekeeper.algorithms.categories.prevalence import SizeCurve
from gamekeeper.errors import InputError, Reason
from gamekeeper.results.plotting import COLOURS, GRID, MUTED, drawable, drawable_letters
from gamekeeper.wording import count_of, number_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gamekeeper.mapping.analysis.key_variables import KeyVariableMap

# Colours and strokes together tell curves apart in grey as well.
_STROKES = ("-", "--", "-.", ":")
_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000)
_TICK_SPACE = 1.3
_NAME_LETTERS = 32
_TITLE_LETTERS = 60


def plot_curves(key_variable_map: KeyVariableMap, *, ax: Axes | None = None, most: int = 8) -> Axes:
    """Plot code size against prevalence, one step curve per variable in the order of the ranking.

    The number of categories has a logarithmic axis, since most codes have few and some have very
    many; the ranking goes by area on a linear one. Arbitrary precision is drawn on a line of its
    own at the top, called "any detail". Letters that the font lacks are replaced. Where more than
    `most` variables have a curve, the legend says how many are left out. A new figure needs no
    display; `ax.figure.savefig("curves.png")` saves it.
    """
    from matplotlib.figure import Figure

    if most < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A plot of {most} variables was asked for.",
            "That is less than one.",
            "Give a positive whole number.",
        )
    if ax is None:
        ax = Figure(figsize=(8.0, 4.2), layout="constrained").add_subplot()
    curves = [
        (item, item.curve)
        for item in key_variable_map.variables
        if item.curve is not None and item.curve.sizes
    ]
    shown = curves[:most]
    sizes = [size for _, curve in shown for size in curve.sizes]
    largest = max((size for size in sizes if size != math.inf), default=1)
    ceiling = 2 * max(largest, 4)
    _set_axes(ax, largest, ceiling if math.inf in sizes else None)
    letters = drawable_letters()
    for number, (item, curve) in enumerate(shown):
        prevalences, heights = _corners(curve, ceiling)
        name = drawable(short(item.variable, _NAME_LETTERS), letters)
        ax.plot(
            prevalences,
            heights,
            drawstyle="steps-post",
            color=COLOURS[number % len(COLOURS)],
            linestyle=_STROKES[number % len(_STROKES)],
            linewidth=2,
            marker="o",
            markevery=[len(prevalences) - 1],
            markersize=5,
            label=f"{number + 1}. {name}",
        )
    target = drawable(short(key_variable_map.target, _TITLE_LETTERS), letters)
    ax.set_title(f"Key variables of {target}", loc="left", parse_math=False)
    asked = float(key_variable_map.prevalence)
    ax.axvline(asked, color=MUTED, linewidth=1, linestyle=":", zorder=1, label="prevalence asked")
    _set_legend(ax, len(curves) - len(shown), len(key_variable_map.variables) - len(curves))
    return ax


def _corners(curve: SizeCurve, ceiling: float) -> tuple[list[float], list[float]]:
    """Return where each step starts and how high it is, then the very last point."""
    steps = curve.steps
    prevalences = [float(start) for start, _, _ in steps] + [float(steps[-1][1])]
    heights = [size for _, _, size in steps] + [curve.end]
    return prevalences, [float(min(height, ceiling)) for height in heights]


def _set_axes(ax: Axes, largest: float, ceiling: float | None) -> None:
    from matplotlib.ticker import NullLocator, PercentFormatter

    # The top value has a tick of its own, and room for its name.
    ticks: list[float] = [tick for tick in _TICKS if tick * _TICK_SPACE <= largest]
    ticks.append(largest)
    names = [number_text(tick) for tick in ticks]
    if ceiling is not None:
        ticks.append(ceiling)
        names.append("any detail")
        ax.axhspan(ceiling / 1.3, ceiling * 1.3, color="#f3f5f8", zorder=0)
    ax.set_yscale("log")
    ax.set_ylim(0.85, 1.3 * (ceiling or largest))
    ax.set_yticks(ticks, names)
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    ax.set_xlabel("Prevalence: share of the forms that must be matched")
    ax.set_ylabel("Categories that can be matched (log scale)")
    ax.grid(color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _set_legend(ax: Axes, n_left_out: int, n_without: int) -> None:
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    notes = [f"{n_left_out} more not shown"] if n_left_out else []
    notes += [f"{count_of(n_without, 'variable')} without a curve"] if n_without else []
    for note in notes:
        handles.append(Line2D([], [], linestyle="none"))
        labels.append(note)
    legend = ax.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
