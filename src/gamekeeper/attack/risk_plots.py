"""Plots of risk: its distribution over records, MSU sizes, contributions of variables and categories.

Every plot is a figure of its own that needs no display. Letters that the font lacks are replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.errors import InputError, Reason
from gamekeeper.results.plotting import name_bars, new_figure, ruled
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    from fractions import Fraction

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.algorithms.intrusion.dis_simulation import DisStep
    from gamekeeper.attack.contribution_risk import CategoryRisk, SizeRisk, VariableRisk
    from gamekeeper.attack.risk import RecordRisk

_BAR = "#1f5f99"
# From the smallest MSUs, which weigh most, to the largest; distinct in grey as well.
_SHADES = ("#7d1b3a", "#d1690e", "#e3b23c", "#2a8a57", "#2f93aa", "#1f5f99", "#6b4fa0", "#8a939c")
_NAME_LETTERS = 32
_N_BINS = 20


def plot_records(risk: RecordRisk) -> Figure:
    """Plot how the measure that ranks is distributed over the records where it is above 0.

    A measure that never exceeds 1 has bins of equal width, a score has bins of equal ratio.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from gamekeeper.attack.risk import RecordRisk
    >>> from gamekeeper.results import Provenance
    >>> table = pa.table({"record": [1, 2, 3], "class_size": [1, 1, 2], "is": [6.0, 2.0, 0.0]})
    >>> figure = plot_records(RecordRisk("is", table, {}, Provenance("example")))
    >>> int(sum(bar.get_height() for bar in figure.axes[0].patches))
    2
    """
    import numpy as np

    figure, ax = _figure(4.2)
    column = risk.table[risk.measure]
    known = column.is_valid().to_numpy()
    values = column.drop_null().to_numpy().astype(np.float64)
    counts = np.ones(len(column), np.int64) if risk.counts is None else risk.counts
    is_above = values > 0
    above, weights = values[is_above], counts[known][is_above]
    n_above = int(weights.sum())
    largest = float(above.max()) if above.size else 1.0
    if largest <= 1:
        edges = np.linspace(0.0, 1.0, _N_BINS + 1)
    else:
        smallest = float(above.min())
        # One value only still needs a bin of some width.
        edges = np.geomspace(smallest / 1.05, largest * 1.05, _N_BINS + 1)
        ax.set_xscale("log")
    ax.hist(
        above, bins=edges.tolist(), weights=weights, color=_BAR, edgecolor="white", linewidth=0.5
    )
    _set_counts(ax, n_above)
    ax.set_xlabel(f"{risk.measure}, where above 0")
    ax.set_ylabel("Records (log scale)" if above.size else "Records")
    at_zero = int(counts[known].sum()) - n_above
    left_out = int(counts[~known].sum())
    notes = [f"{count_of(n_above, 'record')} above 0", f"{at_zero:,} at 0"]
    notes += [f"{left_out:,} without a value"] if left_out else []
    _title(ax, f"Distribution of risk: {', '.join(notes)}")
    return figure


def plot_sizes(risk: SizeRisk) -> Figure:
    """Plot the number of MSUs by size, and of the uniques whose smallest MSU has that size."""
    import numpy as np

    figure, ax = _figure(4.2)
    sizes = np.array([line.size for line in risk.lines])
    msus = [line.msus for line in risk.lines]
    smallest_of = [line.smallest_of for line in risk.lines]
    ax.bar(sizes - 0.2, msus, width=0.4, color=_BAR, label="MSUs")
    ax.bar(
        sizes + 0.2,
        smallest_of,
        width=0.4,
        color=_SHADES[1],
        label="sample uniques whose smallest MSU has this size",
    )
    _set_counts(ax, max(msus, default=0))
    ax.set_xticks(sizes.tolist())
    ax.set_xlabel("Variables in the minimal sample unique (MSU)")
    ax.set_ylabel("Number (log scale)" if any(msus) else "Number")
    ax.legend(frameon=False, loc="best")
    _title(ax, "Minimal sample uniques by size")
    return figure


def plot_variables(risk: VariableRisk, *, most: int = 20) -> Figure:
    """Plot the share of the file's IS that MSUs with each variable have, stacked by MSU size."""
    names = [line.variable for line in risk.lines]
    return _bars(risk, names, most, "variable", "variables")


def plot_categories(risk: CategoryRisk, *, most: int = 20) -> Figure:
    """Plot the share of the file's IS that MSUs with each category have, stacked by MSU size."""
    names = [f"{line.variable}: {line.category}" for line in risk.lines]
    return _bars(risk, names, most, "category", "categories")


def plot_convergence(steps: Sequence[DisStep], expected: Fraction | None) -> Figure:
    """Plot the running estimate of DIS with two standard errors, and what it tends to if known."""
    figure, ax = _figure(4.2)
    known = [step for step in steps if step.estimate is not None]
    rounds = [step.rounds for step in known]
    estimates = [step.estimate or 0.0 for step in known]
    errors = [2 * (step.standard_error or 0.0) for step in known]
    ax.plot(rounds, estimates, color=_BAR, linewidth=2, marker="o", markersize=3, label="estimate")
    ax.fill_between(
        rounds,
        [max(0.0, value - error) for value, error in zip(estimates, errors, strict=True)],
        [min(1.0, value + error) for value, error in zip(estimates, errors, strict=True)],
        color=_BAR,
        alpha=0.2,
        label="two standard errors",
    )
    if expected is not None:
        ax.axhline(float(expected), color=_SHADES[1], linestyle="--", label="by formula")
    ax.set_xlabel("Rounds")
    ax.set_ylabel("Correct among unique matches")
    ax.legend(frameon=False, loc="best")
    _title(ax, "Convergence of the simulated DIS")
    return figure


def _bars(
    risk: VariableRisk | CategoryRisk, names: Sequence[str], most: int, singular: str, plural: str
) -> Figure:
    """Draw one stacked bar per line, the first at the top, at most so many."""
    if most < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A plot of {most} bars was asked for.",
            "That is less than one.",
            "Give a positive whole number.",
        )
    lines, file_is = risk.lines[:most], risk.file_is
    figure, ax = _figure(1.4 + 0.28 * len(lines))
    places = list(range(len(lines)))
    starts = [0.0] * len(lines)
    n_sizes = max((len(line.msus) for line in lines), default=0)
    for size in range(n_sizes):
        widths = [100 * line.is_scores[size] / file_is if file_is else 0.0 for line in lines]
        if not any(widths):
            continue
        # Weights fall fast with the size: those beyond the last shade share it.
        shade = _SHADES[min(max(size - 1, 0), len(_SHADES) - 1)]
        ax.barh(places, widths, left=starts, color=shade, label=f"MSUs of size {size}")
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    name_bars(ax, names[:most], _NAME_LETTERS)
    ax.set_xlim(left=0)
    ax.set_xlabel("Percent of the file's IS; an MSU counts for each of its variables")
    if any(starts):
        ax.legend(frameon=False, loc="lower right")
    n_left = len(risk.lines) - len(lines)
    note = f" ({count_of(n_left, singular, plural)} more not shown)" if n_left else ""
    _title(ax, f"{plural.capitalize()} and their share of the IS{note}")
    return figure


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = new_figure(8.0, height)
    return figure, ruled(figure.add_subplot())


def _set_counts(ax: Axes, most: int) -> None:
    """Set a logarithmic axis of counts, with room above the largest; a linear one if all are 0."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    if most:
        ax.set_yscale("log")
        ax.set_ylim(0.7, 1.5 * max(most, 7))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _title(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left", parse_math=False)
