"""Are relative risks true? What is left without a variable or a category, against what is so.

`python -m benchmarks.relative_truth --samples 10` judges the population that the package makes up,
with the five key variables of the demo, and with a folder of populations (see
`benchmarks/truth/populations.py`) also those that `--populations` names. Models are fitted to each
sample by annealing, as in `benchmarks.truth`. Compared are the population uniques among the sample uniques (tau-1):

- without each variable, by summing cell probabilities (`risk_without`), and by fitting models anew
  to the other variables;
- with each pair of categories of one variable in one;
- without the sample uniques that have a category of that variable.

Of each: the mean estimate over the mean truth, the mean absolute relative error, how often the 95%
interval holds the truth, the relative risk (the whole file's tau-1 over what is left), estimated
over true, and likewise how many population uniques are taken away.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.truth.populations import codes_of, read_folder
from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.annealing import anneal
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.population_model import (
    calibrated_estimate,
    recommended_precisions,
    risk_without,
    suppressed_sums,
)
from gamekeeper.algorithms.models.rate_mixture import Measure

__all__ = ["main"]

DEMO = ("Age", "Place of residence", "Income", "Occupation", "Economic activity")
_PEOPLE = 150_000
# The variable of the demo whose categories are judged: not too many pairs, and it matters.
_CATEGORY = "Economic activity"


@dataclass(frozen=True, slots=True)
class Left:
    """What is left without something: in truth, and as estimated."""

    what: str
    name: str
    true: int
    whole: int
    found: Measure
    found_whole: float


@cache
def _population(name: str, n_variables: int, folder: str) -> NDArray[np.integer[Any]]:
    if name != "demo":
        (chosen,) = [each for each in read_folder(Path(folder)) if each.name == name]
        return codes_of(chosen)[:, :n_variables]
    from gamekeeper.data.population import make_population

    people = make_population(_PEOPLE)
    columns = [people[key].combine_chunks().indices.to_numpy() for key in DEMO]
    return np.stack(columns, axis=1).astype(np.int64)


def _names(name: str, n_variables: int, folder: str) -> tuple[str, ...]:
    if name == "demo":
        return DEMO
    (chosen,) = [each for each in read_folder(Path(folder)) if each.name == name]
    return chosen.keys[:n_variables]


def measure_sample(
    name: str,
    n_variables: int,
    fraction: float,
    number: int,
    folder: str,
    refit: bool,
    category: str,
) -> list[Left]:
    """Draw one sample, and compare what is left without each variable and category."""
    codes = _population(name, n_variables, folder)
    names = _names(name, n_variables, folder)
    seed = [number, len(names), round(1000 * fraction), sum(name.encode())]
    chosen = np.random.default_rng(seed).choice(
        len(codes), round(fraction * len(codes)), replace=False
    )
    levels = [int(n) + 1 for n in codes.max(axis=0)]
    first, counts, unique = _classes(codes, chosen)
    table = ClassTable(codes[first], counts, levels)
    models = _models(table, number)
    estimate = calibrated_estimate(table, models, fraction=fraction)
    whole, true_whole = estimate.file.tau1, int(unique.sum())
    lefts = [Left("variable", "none left out", true_whole, true_whole, whole, whole.value)]

    def note(what: str, of: str, true: int, found: Measure) -> None:
        lefts.append(Left(what, of, true, true_whole, found, whole.value))

    for v, variable in enumerate(names):
        rest = np.delete(codes, v, axis=1)
        at, sizes, alone = _classes(rest, chosen)
        true = int(alone.sum())
        left = risk_without(table, models, v, fraction=fraction, whole=estimate)
        note("variable", variable, true, left.tau1)
        if refit:
            smaller = ClassTable(rest[at], sizes, [n for w, n in enumerate(levels) if w != v])
            again = calibrated_estimate(smaller, _models(smaller, number), fraction=fraction)
            note("variable, fitted anew", variable, true, again.file.tau1)
    if category in names:
        v = names.index(category)
        present = np.unique(table.rows[:, v]).tolist()
        for one, other in combinations(present, 2):
            recode = np.arange(levels[v])
            recode[other] = one
            merged = codes.copy()
            merged[:, v] = recode[codes[:, v]]
            true = int(_classes(merged, chosen)[2].sum())
            left = risk_without(table, models, v, recode, fraction=fraction, whole=estimate)
            note("collapsing", f"{one} and {other}", true, left.tau1)
        for code, found in enumerate(suppressed_sums(table, estimate, v)):
            if code in present:
                true = int((unique & (table.rows[:, v] != code)).sum())
                note("suppression", f"{code}", true, Measure(found.tau1, np.nan, np.nan))
    return lefts


def _classes(
    codes: NDArray[np.integer[Any]], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return a record of each class of the sample, its size, and if it is population unique."""
    (classes,) = class_numbers(codes)
    found, first, counts = np.unique(classes[chosen], return_index=True, return_counts=True)
    return chosen[first], counts, (counts == 1) & (np.bincount(classes)[found] == 1)


def _models(table: ClassTable, seed: int) -> list[Any]:
    return [
        anneal(
            MarginScores(table.rows, table.levels, precision=precision, counts=table.counts),
            restarts=1, seed=seed, workers=1,
        ).best
        for precision in recommended_precisions(table.n_records)
    ]  # fmt: skip


def lines(done: Sequence[list[Left]]) -> Iterator[str]:
    """Yield a line for each variable, and one for all categories by each way."""
    kinds: dict[tuple[str, str], list[list[Left]]] = {}
    for sample in done:
        of_sample: dict[tuple[str, str], list[Left]] = {}
        for left in sample:
            by_category = left.what in ("collapsing", "suppression")
            of_sample.setdefault((left.what, "" if by_category else left.name), []).append(left)
        for key, lefts in of_sample.items():
            kinds.setdefault(key, []).append(lefts)
    for (what, name), samples in kinds.items():
        every = [left for lefts in samples for left in lefts]
        found = np.array([left.found.value for left in every])
        true = np.array([left.true for left in every])
        held = [left.found.lower <= left.true <= left.found.upper for left in every]
        covered = "" if np.isnan(every[0].found.lower) else f" covered {np.mean(held):.2f},"
        away = np.array(
            [(left.found_whole - left.found.value, left.whole - left.true) for left in every]
        )
        taken = away.sum(axis=0)
        relative = np.array([left.found_whole / left.found.value for left in every])
        wanted = np.array([left.whole / max(left.true, 1) for left in every])
        ranks = [_order(lefts) for lefts in samples if len(lefts) > 1]
        yield (
            f"{what:22s} {name:24s} true {true.mean():7.1f}  estimate/true {found.sum() / true.sum():.3f}"
            f" (abs {np.abs(found / np.maximum(true, 1) - 1).mean():.3f}),{covered}"
            f" relative risk {wanted.mean():6.3f}, estimate/true {(relative / wanted).mean():.3f}"
            f" (abs {np.abs(relative / wanted - 1).mean():.3f})"
            + (
                f", taken away {away[:, 1].mean():.1f}, {taken[0] / taken[1]:.3f}"
                if taken[1]
                else ""
            )
            + (f", order {np.mean(ranks):.2f}" if ranks else "")
        )
    variables = [[x for x in lefts if x.what == "variable"][1:] for lefts in done]
    yield f"Pairs of variables in the right order: {np.mean([_order(x) for x in variables]):.2f}"


def _order(lefts: Sequence[Left]) -> float:
    """Return the share of pairs that are in the right order, of those that differ in truth."""
    pairs = [(one, other) for one, other in combinations(lefts, 2) if one.true != other.true]
    right = [(a.true < b.true) == (a.found.value < b.found.value) for a, b in pairs]
    return float(np.mean(right)) if right else float("nan")


def main() -> None:
    """Print the comparison."""
    options = argparse.ArgumentParser(description="Relative risks against known populations.")
    options.add_argument("folder", nargs="?", default="", help="populations besides the demo's")
    options.add_argument("--populations", nargs="+", default=["demo"])
    options.add_argument("--category", default=_CATEGORY, help="whose categories are judged")
    options.add_argument("--variables", type=int, default=8)
    options.add_argument("--fraction", type=float, default=0.05)
    options.add_argument("--samples", type=int, default=10)
    options.add_argument("--refit", action="store_true", help="compare with models fitted anew")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    chosen = options.parse_args()
    console = Console(width=240, highlight=False)
    with ProcessPoolExecutor(chosen.workers) as pool:
        for name in chosen.populations:
            same = (name, chosen.variables, chosen.fraction)
            tasks = [
                pool.submit(
                    measure_sample, *same, number, chosen.folder, chosen.refit, chosen.category
                )
                for number in range(chosen.samples)
            ]
            console.print(f"{name}, {chosen.fraction:.0%}, {chosen.samples} samples", markup=False)
            for line in lines([task.result() for task in tasks]):
                console.print(line, markup=False)


if __name__ == "__main__":
    main()
