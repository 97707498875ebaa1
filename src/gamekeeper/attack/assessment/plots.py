"""The plot of an assessment: how probable right matches are, and what each variable adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.attack.assessment.chances import Basis
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.results.plotting import COLOURS, MUTED, name_bars, new_figure, ruled
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_N_BINS = 20
_MOST_BARS = 12
_NAME_LETTERS = 32


def plot_assessment(measured: Measured) -> Figure:
    """Plot an assessment; needs no display."""
    figure = new_figure(10.0, 4.0)
    left, right = figure.subplots(1, 2)
    _spread(ruled(left), measured)
    _variables(ruled(right), measured)
    return figure


def _spread(ax: Axes, measured: Measured) -> None:
    """Draw how many records have which probability, uniques set apart from the others."""
    values = measured.chances.ranking
    counts, unique = measured.chances.counts, measured.keys.listed.released() == 1
    edges = np.linspace(0.0, 1.0, _N_BINS + 1).tolist()
    parts = [values[unique], values[~unique]]
    weights = [counts[unique], counts[~unique]]
    n_unique, n_others = (int(each.sum()) for each in weights)
    ax.hist(
        parts,
        bins=edges,
        weights=weights,
        stacked=True,
        color=[COLOURS[1], COLOURS[0]],
        label=[f"unique ({n_unique:,})", f"not unique ({n_others:,})"],
    )
    is_bound = measured.chances.basis is Basis.BOUND
    ax.set_xlabel("Probability of a right match" + (", at most" if is_bound else ""))
    ax.set_ylabel("Records")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.legend(frameon=False, loc="best")
    ax.set_title("How many records can be matched", loc="left")


def _variables(ax: Axes, measured: Measured) -> None:
    """Draw what is left without each variable by models, or else the share of IS."""
    by_models = measured.variables
    if by_models is not None:
        lines = by_models.lines[:_MOST_BARS]
        names = [f"without {line.variable}" for line in lines]
        values = [line.tau1_left for line in lines]
        whole = measured.chances.population_uniques
        assert whole.value is not None
        names, values = ["as it is", *names], [whole.value, *values]
        ends = [(whole.lower, whole.upper), *(line.tau1_range for line in lines)]
        spans = np.abs(np.array(ends).T - np.array(values))
        ax.barh(range(len(names)), values, xerr=spans, color=COLOURS[0], ecolor=MUTED, capsize=2)
        ax.set_xlabel("Unique in the population (95% interval)")
        ax.set_title("What each variable adds", loc="left")
        n_left = len(by_models.lines) - len(lines)
    else:
        scores = measured.uniques.variables
        shown = scores.lines[:_MOST_BARS]
        names = [line.variable for line in shown]
        values = [100 * line.is_score / scores.file_is if scores.file_is else 0.0 for line in shown]
        ax.barh(range(len(names)), values, color=COLOURS[0])
        ax.set_xlabel("Percent of the file's IS, a ranking")
        ax.set_title("Which variables set records apart", loc="left")
        n_left = len(scores.lines) - len(shown)
    name_bars(ax, names, _NAME_LETTERS)
    if n_left:
        ax.annotate(f"{count_of(n_left, 'more variable')} not shown", (0.99, 0.02),
                    xycoords="axes fraction", ha="right", color=MUTED)  # fmt: skip
