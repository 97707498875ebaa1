"""Plots of simulations, judged measures and attacks.

Every plot is a figure of its own that needs no display. Measures keep their colour and mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper import results
from gamekeeper.algorithms.judging import logit_rank_plot
from gamekeeper.algorithms.statistics import robust_loess
from gamekeeper.attack.experiments.attack_experiment import AttackExperiment, attack_words
from gamekeeper.attack.experiments.judgement import Judgement
from gamekeeper.attack.experiments.scores import in_words
from gamekeeper.attack.experiments.simulate import SimulationResult, measure_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.experiments.compare import Comparison

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
    figure = results.new_figure(8.0, 4.6)
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
    """Plot `pr_cm` against `cost_without` and `cost_with`, a panel each, one colour per strategy."""
    figure = results.new_figure(5.2 * len(_COSTS), 4.6)
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
    figure = results.new_figure(5.6, 5.0)
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], "--", color=_DIAGONAL, label="score = 1/F")
    for number, (name, (scores, chances)) in enumerate(series.items()):
        colour, mark = _style(number)
        ax.plot(scores, chances, f"{mark}-", color=colour, label=name)
    ax.set_xlabel("mean score of the group")
    ax.set_ylabel("mean of 1/F, the true chance of a correct match")
    _finish(ax)
    return figure


_STYLES = ("-", "--", "-.", ":")
_POINTS, _SMOOTHED, _ACROSS = 500, 5000, 3
_TRUTHS = {
    "unique": ("share that is population unique", "probability of being population unique"),
    "match": ("mean of 1/F, the true chance", "probability of a correct match"),
}
# Attacks without a measure are grey and told apart by their strokes.
_PLAIN = {
    "pr_cm_given_um": ("#20262d", "-"),
    "pr_cm_given_su": ("#20262d", "--"),
    "pr_pu_given_su": (results.MUTED, "-."),
    "dis": (results.MUTED, ":"),
}
_STROKES = {"top10": "-", "mcmcmc1": "-", "mcmcmc2": ":"}
_WAYS = {
    "meet people until one fits (population to sample)": ("pr_cm_given_um", "mcmcmc1", "mcmcmc2"),
    "look for a given person (sample to population)": ("pr_cm_given_su", "top10"),
}


def plot_ranks(judgement: Judgement) -> Figure:
    """Plot the logit rank plot of every measure; empty where there is one kind of record only."""
    figure = results.new_figure(7.2, 4.8)
    ax = figure.add_subplot()
    truth, labels = judgement.pooled().is_unique, _labels(judgement.measures)
    for number, line in enumerate(judgement.lines):
        if line.auc_within is None:
            continue
        found = logit_rank_plot(truth, judgement.ranks(line.measure))
        (colour, _), style = _style(number), _STYLES[number % len(_STYLES)]
        label = f"{labels[line.measure]} (AUC {line.auc_within.value:.3f})"
        ax.plot(found.t, found.value, style, color=colour, label=label, linewidth=1.8)
    ax.set_xlabel("logit of the rank within the sample")
    ax.set_ylabel("logit of the probability of being population unique")
    _finish(ax)
    return figure


def plot_predictions(judgement: Judgement, *, seed: int = 0) -> Figure | None:
    """Plot estimated against true probabilities of a correct match, both as logarithms.

    Some points are drawn at random, and a robust smooth line through up to 5,000 of them.
    """
    shown = [line.measure for line in judgement.lines if line.match is not None]
    if not shown:
        return None
    n_rows = -(-len(shown) // _ACROSS)
    n_columns = min(len(shown), _ACROSS)
    figure = results.new_figure(4.3 * n_columns + 0.6, 3.9 * n_rows)
    axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    sizes, labels = judgement.pooled().population_sizes, _labels(shown)
    lowest = 0.0
    for ax, measure in zip(axes.flat, shown, strict=False):
        match = judgement.probabilities(measure)
        assert match is not None
        kept = np.flatnonzero(match > 0)
        chosen = np.random.default_rng(seed).permutation(kept)[:_SMOOTHED]
        true, said = -np.log10(sizes[chosen]), np.log10(match[chosen])
        lowest = min(lowest, float(true.min(initial=0.0)))
        colour, mark = _style(judgement.measures.index(measure))
        ax.plot(
            true[:_POINTS], said[:_POINTS], mark, color=colour,
            alpha=0.35, markersize=3.5, markeredgewidth=0,
        )  # fmt: skip
        if len(chosen):
            ax.plot(*robust_loess(true, said), color="black", linewidth=1.6)
        n_zero = len(match) - len(kept)
        left_out = f" ({n_zero:,} of probability 0 not shown)" if n_zero else ""
        ax.set_title(labels[measure] + left_out, fontsize=9)
    for ax in axes.flat[: len(shown)]:
        ax.plot([lowest, 0], [lowest, 0], "--", color=results.MUTED, linewidth=1)
        ax.set_xlabel("log10 of 1/F")
        _finish(ax, legend=False)
    for ax in axes.flat[len(shown) :]:
        ax.set_axis_off()
    for ax in axes[:, 0]:
        ax.set_ylabel("log10 of the estimate")
    return figure


def plot_calibrations(judgement: Judgement) -> Figure | None:
    """Plot the truth against the probability, by tenths of the sample uniques."""
    kinds = [
        kind for kind in _TRUTHS if any(getattr(line, kind) is not None for line in judgement.lines)
    ]
    if not kinds:
        return None
    figure, labels = results.new_figure(5.2 * len(kinds), 4.6), _labels(judgement.measures)
    axes = figure.subplots(1, len(kinds), squeeze=False)[0]
    for ax, kind in zip(axes, kinds, strict=True):
        ax.plot([0, 1], [0, 1], "--", color=results.MUTED, linewidth=1)
        for number, measure in enumerate(judgement.measures):
            groups, (colour, mark) = judgement.calibration(measure, kind), _style(number)
            if groups:
                said = [group.mean_probability for group in groups]
                true = [group.mean_outcome for group in groups]
                label = labels[measure]
                ax.plot(said, true, f"{mark}-", color=colour, label=label, markersize=5)
        ylabel, xlabel = _TRUTHS[kind]
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        _finish(ax)
    return figure


def plot_seconds(comparison: Comparison) -> Figure:
    """Plot the time of every measure per sample, one mark per fraction, on a logarithmic axis."""
    measures, labels = comparison.measures, _labels(comparison.measures)
    figure = results.new_figure(7.2, 1.6 + 0.42 * len(measures))
    ax = figure.add_subplot()
    for step, setting in enumerate(comparison.settings):
        lines = [setting.judgement.line(measure) for measure in measures]
        known = {place: line.seconds for place, line in enumerate(lines) if line.seconds}
        (colour, mark), label = _style(step), f"samples of {setting.words}"
        ax.plot([*known.values()], [*known], mark, color=colour, markersize=8, label=label)
    ax.set_yticks(range(len(measures)), [labels[measure] for measure in measures])
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel("mean seconds per sample")
    _finish(ax)
    return figure


def plot_attacks(found: AttackExperiment, attacks: Sequence[str]) -> Figure:
    """Plot the probability of a correct match against the sampling fraction."""
    figure = results.new_figure(8.0, 4.6)
    ax = figure.add_subplot()
    _draw_attacks(ax, found, attacks, "pr_cm")
    ax.set_ylabel("probability of a correct match")
    _finish(ax, beside=True)
    return figure


def plot_attack_costs(found: AttackExperiment) -> Figure:
    """Plot the people searched, from the population to the sample and the other way round."""
    figure = results.new_figure(10.4, 4.4)
    axes = figure.subplots(1, 2)
    for ax, (title, attacks) in zip(axes, _WAYS.items(), strict=True):
        _draw_attacks(ax, found, attacks, "cost")
        ax.set_title(title, fontsize=9)
        ax.set_ylim(0, 1.06 * ax.get_ylim()[1])
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        _finish(ax)
    axes[0].set_ylabel("people searched on average")
    return figure


def _draw_attacks(ax: Axes, found: AttackExperiment, attacks: Sequence[str], part: str) -> None:
    letters = results.drawable_letters()
    for attack, measure in found.series:
        values = found.curve(attack, measure, part) if attack in attacks else []
        if all(value is None for value in values):
            continue
        number = found.measures.index(measure) if measure else 0
        if measure:
            (colour, mark), stroke = _style(number), _STROKES[attack]
        else:
            colour, stroke = _PLAIN[attack]
            # One fraction makes no line.
            mark = "." if len(values) == 1 else ""
        # Measures often agree: of lines that cover each other, the wider are below.
        wide = max(0, 5 - number) if measure else 1
        ax.plot(
            [100 * float(step) for step in found.fractions],
            [np.nan if value is None else value for value in values],
            color=colour, linestyle=stroke, linewidth=1.2 + 0.5 * wide, marker=mark,
            markersize=4 + 1.4 * wide, markerfacecolor="none", markeredgewidth=1.3,
            label=results.drawable(attack_words(attack, measure), letters).replace("$", r"\$"),
        )  # fmt: skip
    ax.set_xlabel("sampling fraction in percent")


def plot_attack_seconds(found: AttackExperiment) -> Figure:
    """Plot the mean seconds of every measure against the sampling fraction."""
    figure = results.new_figure(8.0, 3.8)
    ax = figure.add_subplot()
    labels = _labels(found.measures)
    for number, measure in enumerate(found.measures):
        taken = {100 * float(step): found.seconds(measure, step) for step in found.fractions}
        known = {place: np.mean(seconds) for place, seconds in taken.items() if seconds}
        (colour, mark), label = _style(number), labels[measure]
        ax.plot([*known], [*known.values()], color=colour, marker=mark, markersize=5, label=label)
    ax.set_xlabel("sampling fraction in percent")
    ax.set_ylabel("mean seconds per sample")
    ax.set_yscale("log")
    _finish(ax, beside=True)
    return figure


def _labels(measures: Sequence[str]) -> dict[str, str]:
    letters = results.drawable_letters()
    return {
        measure: results.drawable(in_words(measure), letters).replace("$", r"\$")
        for measure in measures
    }


def _style(number: int) -> tuple[str, str]:
    return results.COLOURS[number % len(results.COLOURS)], _MARKS[number % len(_MARKS)]


def _finish(ax: Axes, *, legend: bool = True, beside: bool = False) -> None:
    results.ruled(ax)
    if legend and ax.get_legend_handles_labels()[0]:
        if beside:
            ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        else:
            ax.legend(fontsize=8, frameon=False, loc="best")
