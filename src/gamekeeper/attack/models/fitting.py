"""Decomposable models of the key variables, fitted to the release alone, and drawn.

An intruder who knows how the key variables hang together can tell which sample uniques are likely
to be unique in the population. The models are searched by MC3 (several chains, averaged), by
simulated annealing (the best one) or by Occam's window (all that are nearly as good). Smith's
thesis, chapters 6 to 8; Madigan and York 1995; Madigan and Raftery 1994.

A bare sample of codes can be estimated as well, for experiments that draw many. Every plot is a
figure of its own that needs no display.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper import results
from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models import clique_scores
from gamekeeper.algorithms.models.annealing import anneal, occams_window
from gamekeeper.algorithms.models.mc3 import sample_models
from gamekeeper.algorithms.models.population_model import (
    PopulationEstimate,
    calibrated_estimate,
    recommended_precisions,
)
from gamekeeper.algorithms.models.walks import SearchResult
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.options import FitMethod, FitOptions
from gamekeeper.attack.risk import keyed_provenance
from gamekeeper.budget import Work, fits
from gamekeeper.data.engine.gate import MOST_BROUGHT
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.weights import Marginals
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from gamekeeper.options import takes, texts_of
from gamekeeper.prompt_syntax import Missing
from gamekeeper.wording import count_of, digits_text, quoted, share_text, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gamekeeper.attack.models.levels import RelativeRisk

LEAST_RECORDS = 1_000
"""With fewer, estimates of single files were off by a quarter on average (docs/explain/models.md)."""
_SPARSE = 0.5
# Distinct rows times pairs of variables: a million records with 64 variables have eight times that.
_LARGE = 500_000_000
_FIRST_SWEEPS = 1_000
_MORE = {
    FitMethod.MC3: "more sweeps",
    FitMethod.ANNEALING: "more runs",
    FitMethod.OCCAM: "a narrower window",
}
_NAME_LETTERS, _FAINTEST, _MOST_POINTS, _MOST_BARS = 26, 0.05, 2_000, 30


@dataclass(frozen=True, repr=False, eq=False)
class ModelFit(results.Result):
    """Models of the key variables, and whether the search for them can be trusted.

    - `keys`, `levels`: the key variables and their numbers of categories, observed or not.
    - `precisions`, `searches`: the total prior precisions that models were searched with, and what
      each search found. Models of small and of large precision rank records better together.
    - `constant`: key variables of which every record has the same category.
    """

    tells_of_records = False

    keys: tuple[str, ...]
    levels: tuple[int, ...]
    n_records: int
    n_uniques: int
    precisions: tuple[float, ...]
    searches: tuple[SearchResult, ...]
    provenance: results.Provenance
    constant: tuple[str, ...] = ()

    @property
    def search(self) -> SearchResult:
        """The search with the smallest precision, whose models have the fewest edges."""
        return self.searches[0]

    @property
    def converged(self) -> bool:
        """Whether every search reached what it was to reach."""
        return all(search.converged for search in self.searches)

    @property
    def complete(self) -> bool:
        """Whether no search was cancelled."""
        return all(search.complete for search in self.searches)

    def pooled(self) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Return the models of all searches and their weights, each search counting alike."""
        models = np.concatenate([search.models for search in self.searches])
        weights = np.concatenate([search.weights for search in self.searches])
        return models, weights / len(self.searches)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        search = self.search
        return {
            "method": search.method,
            "variables": len(self.keys),
            "records": self.n_records,
            "models": sum(item.n_models for item in self.searches),
            "carrying_95_percent": search.n_carrying(),
            "best_log_marginal_likelihood": search.best_score,
            "edges_of_the_best": len(self.edges(self.search.best)),
            "converged": self.converged,
        }

    def edges(self, model: NDArray[np.uint64]) -> list[tuple[str, str]]:
        """Return the pairs of variables that a model joins."""
        return [
            (self.keys[v], self.keys[w])
            for v, w in combinations(range(len(self.keys)), 2)
            if _joins(model, v, w)
        ]

    def to_arrow(self) -> pa.Table:
        """Return one line per pair of variables: how probable the edge is, and if the best has it."""
        likely, best = self.search.edge_probabilities(), self.search.best
        columns = {
            "variable": "string",
            "with": "string",
            "probability": "float64",
            "in_best_model": "bool",
        }
        rows = [
            (self.keys[v], self.keys[w], float(likely[v, w]), _joins(best, v, w))
            for v, w in combinations(range(len(self.keys)), 2)
        ]
        return arrow_table(columns, rows)

    def sentences(self) -> list[str]:
        """Return what was found, and what a reader should beware of."""
        # That it was cancelled is among the warnings, whichever of the searches it was.
        told = replace(self.search, complete=True).sentences()
        if len(self.precisions) > 1:
            others = ", ".join(digits_text(precision) for precision in self.precisions[1:])
            told.append(
                f"Models with more prior precision ({others}) were searched as well, for the ranking"
                f" of records: {count_of(sum(s.n_models for s in self.searches[1:]), 'model')}."
            )
        joined = self.edges(self.search.best)
        alone = [name for name in self.keys if not any(name in pair for pair in joined)]
        stand = "stands by itself" if len(alone) == 1 else "stand by themselves"
        told.append(
            f"The best model joins {count_of(len(joined), 'pair')} of variables"
            + (f"; {quoted(alone)} {stand}." if alone else ".")
        )
        return told + self.warnings()

    @property
    def unsettled(self) -> str:
        """Why the search cannot be trusted, in words; empty where it can."""
        if not self.complete:
            return (
                "The search was cancelled; these are the models that it had found by then. Let it"
                " end before single records are judged by it."
            )
        if self.converged:
            return ""
        return (
            f"The search for models has not settled: give it {_MORE[FitMethod(self.search.method)]}, or"
            " compare with another method, before single records are judged by it."
        )

    def warnings(self) -> list[str]:
        """Return what a non-specialist should act on before using the models."""
        told = [self.unsettled] if self.unsettled else []
        if self.constant:
            one = len(self.constant) == 1
            told.append(
                f"All records have the same category of {quoted(self.constant)}: leave"
                f" {'it' if one else 'them'} out, since the models' edges there mean nothing."
            )
        if self.n_records < LEAST_RECORDS:
            told.append(
                f"With {count_of(self.n_records, 'record')} models have little to learn from: do"
                f" not lean on estimates from fewer than {LEAST_RECORDS:,}."
            )
        if self.n_records and self.n_uniques / self.n_records > _SPARSE:
            told.append(
                f"{share_text(self.n_uniques / self.n_records)} of the records are unique: the table is"
                " sparse, so models lean on their structure more than on counts."
            )
        return told

    def plot(self) -> Figure:
        """Draw the model graph: an edge is as dark as it is probable; needs no display."""
        return plot_model(self)

    def plot_trace(self) -> Figure:
        """Plot the log marginal likelihood along each chain or run; needs no display."""
        return plot_trace(self)


def _joins(model: NDArray[np.uint64], v: int, w: int) -> bool:
    return bool(int(model[v]) >> w & 1)


def why_no_models(key_table: KeyTable) -> str:
    """Return why models of a file cannot tell what a match is worth; empty where they can."""
    if key_table.fraction is None:
        return "the sampling fraction is not known (give --fraction or --weight)"
    if key_table.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        return (
            f"models need missing cells to be a category or left out (--missing category), and here"
            f" {key_table.missing.words}"
        )
    if key_table.n_records < LEAST_RECORDS:
        return (
            f"models need {LEAST_RECORDS:,} records to learn from, and the file has"
            f" {key_table.n_records:,}"
        )
    if key_table.n_uniques == key_table.n_records:
        return "models learn from records that are alike, and every record is unique"
    return ""


@takes(FitOptions)
def fit_models(key_table: KeyTable, asked: FitOptions) -> ModelFit:
    """Fit decomposable models to the keys of a release.

    Missing cells are counted as `category` or `exclude`. Without a precision there are several, as
    `recommended_precisions` has it, with a search for each. Beside the runs of annealing there is a
    greedy one; in very large tables there is that one alone. One seed gives one result whatever the
    number of threads.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = [[1, 1, 1], [1, 1, 2], [2, 2, 1], [2, 2, 2]] * 10
    >>> keys = count_keys(coded_from_codes(people, ["age", "job", "sex"]), ["age", "job", "sex"])
    >>> fit = fit_models(keys, method="annealing")
    >>> fit.edges(fit.search.best)
    [('age', 'job')]
    """
    started = time.perf_counter()
    chosen = FitMethod(asked.method)
    if key_table.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        raise InputError(
            Reason.BAD_OPTION,
            "Models were to be fitted.",
            f"The keys were counted with missing cells by {quoted([key_table.missing.value])}.",
            "Count them again with 'category' or 'exclude' (--missing).",
        )
    n_records = key_table.n_records
    precisions = (
        recommended_precisions(n_records) if asked.precision is None else (asked.precision,)
    )
    levels, constant, every = _scores(key_table, precisions)
    supplied = isinstance(every[0], clique_scores.SuppliedScores)
    if (
        chosen is not FitMethod.ANNEALING
        and _is_large(every[0])
        and (supplied or not asked.patient)
    ):
        patient = "" if supplied else "; patient (--patient) searches anyway"
        raise LimitError(
            Reason.TOO_LARGE,
            f"Models of {count_of(len(levels), 'variable')} were to be searched by"
            f" {quoted([chosen.value])}.",
            f"The file has {count_of(every[0].n_rows, 'different row')}, so that this may take hours.",
            "Take 'annealing' (--method annealing), which only climbs there, or fewer variables"
            f"{patient}.",
        )
    found: list[SearchResult] = []
    for place, scores in enumerate(every):
        told = _part_of(asked.progress, place, len(precisions))
        try:
            search = _search(scores, chosen, asked, told)
        except Cancelled:
            if not (asked.keep_partial and found):
                raise
            # Too early for this search to have found anything; what the others found is kept.
            found[-1] = replace(found[-1], complete=False, converged=False)
            break
        found.append(search)
        if not search.complete:
            break
    searches, precisions = tuple(found), precisions[: len(found)]
    parameters = {
        "precisions": ", ".join(f"{each:g}" for each in precisions),
        "chains": str(asked.chains),
        **_parameters(chosen, asked),
    }
    return ModelFit(
        key_table.keys,
        levels,
        n_records,
        key_table.n_uniques,
        precisions,
        searches,
        keyed_provenance(
            "decomposable models",
            chosen.words,
            key_table,
            parameters,
            seed=asked.seed,
            seconds=time.perf_counter() - started,
        ),
        constant,
    )


def _scores(
    key_table: KeyTable, precisions: Sequence[float]
) -> tuple[tuple[int, ...], tuple[str, ...], list[clique_scores.MarginScores]]:
    """Return the numbers of categories, the variables with one, and scores for each precision.

    This machine counts margins: of the records, or of the different keys where an engine elsewhere
    has the records. Where not even those fit, that engine counts margins.
    """
    engine, keys = key_table.coded.engine, key_table.keys
    n_codes = key_table.coded.n_codes(keys)
    n_classes = key_table.n_classes
    if not engine.is_local and not (
        n_classes <= MOST_BROUGHT and fits(Work.FITTING.least_bytes(n_classes, len(keys)))
    ):
        marginals = Marginals(key_table)
        lowest, highest = marginals.ranges()
        levels = clique_scores.supplied_levels(lowest.tolist(), n_codes)
        constant = [name for name, same in zip(keys, lowest == highest, strict=True) if same]
        every = clique_scores.SuppliedScores.at_each_precision(
            marginals.of, n_classes, levels, precisions
        )
        return levels, tuple(constant), every
    if engine.is_local:
        codes, counts = key_table.matrix(), None
    else:
        codes, counts = key_table.distinct.codes, key_table.distinct.counts
    levels = clique_scores.declared_levels(codes, n_codes)
    constant = [
        name
        for name, column in zip(keys, codes.T, strict=True)
        if len(column) and bool((column == column[0]).all())
    ]
    every = clique_scores.MarginScores.at_precisions(codes, levels, precisions, counts=counts)
    return levels, tuple(constant), every


def _parameters(method: FitMethod, asked: FitOptions) -> dict[str, str]:
    if method is FitMethod.MC3:
        return texts_of(asked, "most_sweeps") | _unusual(asked, "burn_in", "thin")
    if method is FitMethod.OCCAM:
        return {"window": f"{asked.window:g}"} | _unusual(asked, "most_models")
    return _unusual(asked, "cooling")


def _unusual(asked: FitOptions, *names: str) -> dict[str, str]:
    usual = texts_of(FitOptions(), *names)
    return {name: text for name, text in texts_of(asked, *names).items() if text != usual[name]}


def _part_of(
    progress: results.Progress | None, place: int, n_searches: int
) -> results.Progress | None:
    if progress is None:
        return None

    def told(done: int, total: int | None) -> None:
        if total is None:
            progress(done, None)
        else:
            progress(place * total + done, n_searches * total)

    return told


def _is_large(scores: clique_scores.MarginScores) -> bool:
    """Tell whether annealing would take minutes, so that the greedy run has to do, others hours."""
    return (
        isinstance(scores, clique_scores.SuppliedScores)
        or scores.n_rows * scores.n_variables**2 > _LARGE
    )


def _search(
    scores: clique_scores.MarginScores,
    method: FitMethod,
    asked: FitOptions,
    progress: results.Progress | None,
) -> SearchResult:
    common: dict[str, Any] = {
        "seed": asked.seed,
        "workers": asked.workers,
        "progress": progress,
        "keep_partial": asked.keep_partial,
    }
    if method is FitMethod.MC3:
        return sample_models(
            scores,
            chains=asked.chains,
            sweeps=min(_FIRST_SWEEPS, asked.most_sweeps),
            most_sweeps=asked.most_sweeps,
            burn_in=asked.burn_in,
            thin=asked.thin,
            **common,
        )
    if method is FitMethod.ANNEALING:
        restarts = 0 if _is_large(scores) else asked.chains
        return anneal(scores, restarts=restarts, schedule=str(asked.cooling), **common)
    return occams_window(scores, c=asked.window, most_models=asked.most_models, **common)


@dataclass(frozen=True, slots=True, repr=False)
class SampleEstimate:
    """The calibrated estimate of each class of a sample, each record's class, a record of each."""

    classes: NDArray[np.int64]
    first: NDArray[np.int64]
    estimate: PopulationEstimate


def estimate_sample(
    codes: NDArray[np.unsignedinteger[Any]],
    levels: Sequence[int],
    fraction: Fraction,
    search: Callable[[clique_scores.MarginScores], SearchResult],
    *,
    seed: int = 0,
) -> SampleEstimate:
    """Search models at the recommended precisions, and infer the population sizes.

    `levels` counts the categories of each variable, and the missing cell where it occurs.
    """
    (classes,) = class_numbers(codes)
    _, first, counts = np.unique(classes, return_index=True, return_counts=True)
    # The missing cell has code 0, whether it occurs or not.
    table = ClassTable(codes[first], counts, [level + 1 for level in levels])
    precisions = recommended_precisions(len(codes))
    found = [
        search(scores)
        for scores in clique_scores.MarginScores.at_precisions(codes, levels, precisions)
    ]
    estimate = calibrated_estimate(
        table,
        [model for result in found for model in result.models],
        fraction=float(fraction),
        weights=np.concatenate([result.weights for result in found]),
        seed=seed,
    )
    return SampleEstimate(classes, first, estimate)


def plot_model(fit: ModelFit) -> Figure:
    """Draw the variables in a circle, joined by edges that are as dark as they are probable."""
    letters = results.drawable_letters()
    n = len(fit.keys)
    figure = results.new_figure(7.2, 6.2)
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
                color=results.COLOURS[0] if is_best else results.COLOURS[1],
                alpha=0.15 + 0.85 * chance,
                linewidth=1 + 2 * chance,
                linestyle="-" if is_best else "--",
                zorder=1,
            )
    for name, angle, (x, y) in zip(fit.keys, angles, points, strict=True):
        ax.plot([x], [y], "o", color=results.MUTED, markersize=9, zorder=2)
        side = "left" if math.cos(angle) > 0.1 else "right" if math.cos(angle) < -0.1 else "center"
        ax.text(
            1.09 * x,
            1.09 * y,
            results.drawable(short(name, _NAME_LETTERS), letters),
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
    figure = results.new_figure(7.6, 3.8)
    ax = figure.add_subplot()
    for number, line in enumerate(np.atleast_2d(fit.search.trace)):
        step = max(len(line) // _MOST_POINTS, 1)
        places = np.arange(0, len(line), step)
        ax.plot(places, line[::step], color=results.COLOURS[number % len(results.COLOURS)], linewidth=0.9,
                label=f"chain {number + 1}")  # fmt: skip
    if fit.search.burn_in:
        ax.axvline(fit.search.burn_in, color=results.MUTED, linestyle=":", label="end of burn-in")
    ax.set_xlabel("draw")
    ax.set_ylabel("log marginal likelihood")
    ax.grid(color=results.GRID)
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
    figure = results.new_figure(8.0, 1.4 + 0.3 * len(lines))
    ax = results.ruled(figure.add_subplot(), "x")
    values = [line.tau1_left for line in lines]
    spans = np.abs(np.array([line.tau1_range for line in lines]).T - np.array(values))
    ax.barh(
        range(len(lines)),
        values,
        xerr=spans,
        color=results.COLOURS[0],
        ecolor=results.MUTED,
        capsize=2,
    )
    results.name_bars(ax, names, _NAME_LETTERS)
    ax.set_xlabel("Population uniques that are left without it")
    left = len(risk.lines) - len(lines)
    more = f" ({left:,} more not shown)" if left else ""
    what = "categories, by rank" if of_categories else "variables"
    ax.set_title(f"What is left without {what}{more}", loc="left")
    return figure
