"""Schemes compared: what random tables published under each of them give away; plots of tables.

The experiment of the thesis' Table 1 for any scheme, base, margins and table shape: random tables
are published under a scheme, and SAP of each is worked out for numbers of known people. All schemes
get the same tables. Every plot is a figure of its own that needs no display.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import Scheme, SchemeLike, parse_scheme
from gamekeeper.algorithms.subtraction.zeros import (
    BANDS,
    SubtractionExperiment,
    subtraction_experiment,
)
from gamekeeper.arrow import pa
from gamekeeper.attack.tables.options import ComparisonInput
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import takes
from gamekeeper.results import COLOURS, GRID, MUTED, Provenance, Result, drawable, drawable_letters
from gamekeeper.wording import count_of, digits_text, shape_text, short, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.tables.bounds import TableBounds
    from gamekeeper.attack.tables.subtraction import ConditionalSubtraction, SubtractionAttack

_MOST_CELLS = 400
_GRID_AXES, _GRID_LENGTH = 2, 24
_NAME_LETTERS = 22


@dataclass(frozen=True, repr=False)
class SchemeComparison(Result):
    """SAP of random tables, under each scheme."""

    tells_of_records = False

    schemes: tuple[str, ...]
    experiments: tuple[SubtractionExperiment, ...]
    n_tables: int
    published: str
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the mean SAP of each scheme for the largest number of known people."""
        return {
            "tables": self.n_tables,
            "n": int(self.experiments[0].n[-1]),
            **{
                f"mean_sap {scheme}": float(found.means[-1])
                for scheme, found in zip(self.schemes, self.experiments, strict=True)
            },
        }

    def sentences(self) -> list[str]:
        """Return how the schemes compare, in words."""
        n = self.experiments[0].n
        said = [f"{count_of(self.n_tables, 'random table')}, {self.published}."]
        for number in [k for k in (5, 10, 20) if k in n] or [int(n[-1])]:
            k = int(np.flatnonzero(n == number)[0])
            ranked = sorted(
                zip(self.schemes, self.experiments, strict=True), key=lambda pair: pair[1].means[k]
            )
            risks = ", ".join(
                f"{scheme} {three_digits(found.means[k])}" for scheme, found in ranked
            )
            said.append(
                f"Knowing {count_of(int(number), 'person', 'people')}, a zero is recovered with a"
                f" mean probability of: {risks}."
            )
        sampled = sum(found.n_sampled for found in self.experiments)
        if sampled:
            said.append(f"SAP of {count_of(sampled, 'table')} was estimated from random samples.")
        return said

    def to_arrow(self) -> pa.Table:
        """Return one row per scheme and number of known people: tables per band of SAP."""
        columns: dict[str, list[Any]] = {"scheme": [], "n": [], "mean_sap": []}
        columns |= {f"sap_{band}": [] for band in BANDS}
        for scheme, found in zip(self.schemes, self.experiments, strict=True):
            for k, number in enumerate(found.n):
                columns["scheme"].append(scheme)
                columns["n"].append(int(number))
                columns["mean_sap"].append(float(found.means[k]))
                for band, count in zip(BANDS, found.counts[k], strict=True):
                    columns[f"sap_{band}"].append(int(count))
        return pa.table(columns)

    def few(self, most: int = 6) -> pa.Table:
        """Return a few rows of each scheme, evenly spaced, with the first and the last n."""
        table = self.to_arrow()
        n = len(self.experiments[0].n)
        chosen = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
        return table.take(np.concatenate([chosen + n * k for k in range(len(self.schemes))]))

    def plot(self) -> Figure:
        """Draw the mean SAP of each scheme over the number of known people; needs no display."""
        return plot_comparison(self)


@takes(ComparisonInput)
def compare_schemes(schemes: Sequence[SchemeLike], asked: ComparisonInput) -> SchemeComparison:
    """Compare perturbation schemes on random tables.

    Schemes are such as "conventional:5", "random:3", "barnardization:0.8" or "exact". `margins` are
    the axes, from 0, of every margin that is published; without them, the table is published alone
    or with its total.

    Examples
    --------
    >>> found = compare_schemes(["conventional:5", "random:5"], tables=200, n=[5], seed=1)
    >>> found.summary()["mean_sap conventional:5"] > found.summary()["mean_sap random:5"]
    True
    """
    started = time.perf_counter()
    if not schemes:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Schemes were to be compared.",
            "None was given.",
            "Give at least one, such as 'conventional:5'.",
        )
    made = [parse_scheme(scheme) for scheme in schemes]
    shape, mean, total, tables = tuple(asked.shape), asked.mean, asked.total, asked.tables
    listed = None if asked.margins is None else [list(map(int, axes)) for axes in asked.margins]
    wrong = [
        m for m in listed or () if len(set(m)) < len(m) or not set(m) <= set(range(len(shape)))
    ]
    if wrong or listed == []:
        raise InputError(
            Reason.BAD_OPTION,
            "Schemes were to be compared on random tables with margins.",
            f"{count_of(len(wrong), 'margin has', 'margins have')} axes that the tables lack, or one"
            " twice."
            if wrong
            else "No margin was given.",
            f"The axes are 0 to {len(shape) - 1}; a margin without axes is the total.",
        )
    n = list(range(25)) if asked.n is None else [int(number) for number in asked.n]
    if not n:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Schemes were to be compared.",
            "No number of known people was given.",
            "Give at least one, such as 0 to 24.",
        )
    found: list[SubtractionExperiment] = []
    for number, scheme in enumerate(made):

        def tell(done: int, whole: int | None, before: int = number * tables) -> None:
            if asked.progress is not None:
                asked.progress(before + done, (whole or tables) * len(made))

        found.append(
            subtraction_experiment(
                scheme,
                total=total,
                margins=listed,
                n_tables=tables,
                shape=shape,
                mean=mean,
                n=n,
                seed=asked.seed,
                progress=tell,
            )
        )
    sizes = shape_text(shape)
    with_ = "with the margins asked for" if listed is not None else "with the total" * total
    return SchemeComparison(
        tuple(scheme.text for scheme in made),
        tuple(found),
        tables,
        f"{sizes} cells of mean {digits_text(mean)}, published {with_ or 'alone'}",
        Provenance(
            "comparison of schemes by SAP",
            "",
            {
                "shape": sizes,
                "mean": f"{mean:g}",
                "margins": "total" * total if listed is None else str(listed),
            },
            seed=asked.seed,
            fingerprint=_fingerprint(made, n, [sizes, f"{mean:g}", tables, total, listed]),
            seconds=time.perf_counter() - started,
        ),
    )


def _fingerprint(schemes: Sequence[Scheme], n: Sequence[int], tables: object) -> str:
    told = ([scheme.text for scheme in schemes], list(n), tables)
    return sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:16]


def plot_bounds(found: TableBounds) -> Figure:
    """Draw what is known of each cell; beyond 400 cells, of evenly spaced ones.

    A small table with two axes is drawn as it is, with the possible counts in its cells. Of others
    the interval of each cell is drawn, cells that are known exactly first.
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
