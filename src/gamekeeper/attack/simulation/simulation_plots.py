"""Plots of simulations: measures against fraction, probability against cost, calibration.

Every plot is a figure of its own that needs no display.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gamekeeper.attack.simulation.measure_words import measure_words
from gamekeeper.results.plotting import COLOURS, new_figure, ruled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.simulation.result import SimulationResult

# Colours and marks together tell series apart in grey as well.
_MARKS = ("o", "s", "^", "v", "D", "P", "X", "*")
_COSTS = {
    "cost_without": "nobody is met twice (without replacement)",
    "cost_with": "anybody may be met again (with replacement)",
}
_LETTERS = 90
_DIAGONAL = "#8a96a3"


def plot_measures(result: SimulationResult, measures: Sequence[str]) -> Figure:
    """Plot measures against the sampling fraction: a point per sample, a line for the means."""
    figure = new_figure(8.0, 4.6)
    ax = figure.add_subplot()
    steps = sorted(set(result.fractions))
    places = [100 * float(step) for step in result.fractions]
    for number, name in enumerate(measures):
        colour, mark = _style(number)
        ax.plot(places, result.column(name), mark, color=colour, alpha=0.35, markersize=4)
        means = [result.mean(name, step).mean for step in steps]
        line = [float("nan") if mean is None else mean for mean in means]
        label = measure_words(name)[:_LETTERS]
        ax.plot([100 * float(step) for step in steps], line, f"{mark}-", color=colour, label=label)
    ax.set_xlabel("sampling fraction in percent")
    _finish(ax)
    return figure


def plot_costs(series: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Plot probability against cost, one panel per kind of cost, one colour per strategy.

    Each strategy has its `pr_cm`, `cost_without` and `cost_with`, a number per point.
    """
    figure = new_figure(5.2 * len(_COSTS), 4.6)
    axes = figure.subplots(1, len(_COSTS), sharey=True)
    for ax, (cost, title) in zip(axes, _COSTS.items(), strict=True):
        for number, (name, of) in enumerate(series.items()):
            colour, mark = _style(number)
            ax.plot(of[cost], of["pr_cm"], mark, color=colour, alpha=0.7, markersize=5, label=name)
        ax.set_xscale("log")
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("people searched on average")
        _finish(ax)
    axes[0].set_ylabel("probability of a correct match")
    return figure


def plot_calibration(series: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Plot the mean of 1/F against the mean score of groups; on the diagonal both agree."""
    figure = new_figure(5.6, 5.0)
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], "--", color=_DIAGONAL, label="score = 1/F")
    for number, (name, (scores, chances)) in enumerate(series.items()):
        colour, mark = _style(number)
        ax.plot(scores, chances, f"{mark}-", color=colour, label=name)
    ax.set_xlabel("mean score of the group")
    ax.set_ylabel("mean of 1/F, the true chance of a correct match")
    _finish(ax)
    return figure


def _style(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], _MARKS[number % len(_MARKS)]


def _finish(ax: Axes) -> None:
    ruled(ax)
    ax.legend(fontsize=8, frameon=False, loc="best")
