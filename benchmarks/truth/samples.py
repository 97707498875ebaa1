"""One sample of a population: models fitted to it alone, every estimate, and the truth.

What a sample gave is kept in a file, so that a run that was stopped goes on where it was. The models are
kept with it: after a change of the estimate, it alone is made again (`again`), the rest stays.

Rivals, for the number of population uniques among the sample uniques (tau-1): the estimate that the
thesis prints, on the best model of precision 1; the log-linear model of main effects, with a Poisson
law; a latent class model by itself, with a Poisson law; Pitman's and Zayatz's estimates. For
Pr(CM|UM): the printed estimate and DIS. For ranks: the first three, SUDA and IS (DIS-IS is IS times a
constant and ranks as it does).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth import latent_classes
from benchmarks.truth.populations import Setting, codes_of
from gamekeeper.algorithms.classes import class_numbers
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.annealing import anneal
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.population_model import (
    calibrated_estimate,
    printed_estimate,
    recommended_precisions,
)
from gamekeeper.algorithms.superpopulation import estimate_pitman, estimate_zayatz
from gamekeeper.algorithms.uniques.dis import dis
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.algorithms.uniques.scores import size_weights

Floats = NDArray[np.float64]

_TRUE = "true"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one sample gave.

    Attributes
    ----------
    numbers
        By name: the true tau1 and Pr(CM|UM) ("true tau1", "true um"), those of each estimate ("ours
        tau1" ...), the ends of our intervals, records, uniques, pairs, and CPU seconds.
    sizes
        The people of each sample unique's class.
    scores
        By measure, of each sample unique: P(F=1), or a score.
    models
        The models that were fitted, as adjacency masks.
    """

    numbers: Mapping[str, float]
    sizes: NDArray[np.int64]
    scores: Mapping[str, Floats]
    models: NDArray[np.uint64]

    @property
    def is_unique(self) -> NDArray[np.bool_]:
        """Which sample uniques are population unique."""
        return self.sizes == 1


def kept_sample(setting: Setting, number: int, folder: str, *, again: bool = False) -> Outcome:
    """Return what a sample gave, from its file if there is one.

    With `again` our estimate is made anew from the models that were kept, and nothing else is.
    """
    path = Path(folder) / f"{str(setting).replace(' ', '-')}-{number}.npz"
    outcome: Outcome | None = None
    if path.exists():
        try:
            with np.load(path) as kept:
                outcome = _unpacked(kept)
        except (BadZipFile, KeyError, ValueError):
            path.unlink()
    if outcome is not None and not again:
        return outcome
    sample = draw_sample(setting, number)
    outcome = measure_sample(sample, number) if outcome is None else outcome
    numbers, stated = estimate(sample, outcome.models)
    outcome = Outcome(
        {**outcome.numbers, **numbers},
        outcome.sizes,
        {"ours": stated, **{who: s for who, s in outcome.scores.items() if who != "ours"}},
        outcome.models,
    )
    _keep(outcome, path)
    return outcome


def _keep(outcome: Outcome, path: Path) -> None:
    half = path.with_suffix(".half.npz")
    numbers = {f"number {name}": np.array(value) for name, value in outcome.numbers.items()}
    scores = {f"score {name}": values for name, values in outcome.scores.items()}
    arrays: dict[str, Any] = {
        "sizes": outcome.sizes,
        "models": outcome.models,
        **numbers,
        **scores,
    }
    np.savez_compressed(half, **arrays)
    half.rename(path)


def _unpacked(kept: Any) -> Outcome:
    def named(kind: str) -> dict[str, Any]:
        return {name[len(kind) :]: kept[name] for name in kept.files if name.startswith(kind)}

    numbers = {name: float(value) for name, value in named("number ").items()}
    return Outcome(numbers, kept["sizes"], named("score "), kept["models"])


@dataclass(frozen=True, slots=True)
class Sample:
    """The classes of a sample, and how many people of the population each has."""

    table: ClassTable
    sizes: NDArray[np.int64]
    fraction: float
    n_people: int


def draw_sample(setting: Setting, number: int) -> Sample:
    """Draw one sample of a population, the same for the same number."""
    codes = codes_of(setting.population)[:, : setting.n_variables]
    (classes,) = class_numbers(codes)
    truth = np.bincount(classes)
    fraction = setting.fraction
    name = sum(setting.population.name.encode())
    seed = [number, setting.n_variables, round(100_000 * fraction), name]
    chosen = np.random.default_rng(seed).choice(
        len(codes), round(fraction * len(codes)), replace=False
    )
    found, first, counts = np.unique(classes[chosen], return_index=True, return_counts=True)
    levels = [int(n) + 1 for n in codes.max(axis=0)]
    table = ClassTable(codes[chosen[first]], counts, levels)
    return Sample(table, truth[found], fraction, len(codes))


def estimate(sample: Sample, models: NDArray[np.uint64]) -> tuple[dict[str, float], Floats]:
    """Return our estimates of the file by name, and P(F=1) of each sample unique."""
    begun = time.process_time()
    ours = calibrated_estimate(sample.table, list(models), fraction=sample.fraction)
    file = ours.file
    numbers = {
        "ours tau1": file.tau1.value,
        "ours um": file.pr_cm_given_um.value,
        "lower tau1": file.tau1.lower,
        "upper tau1": file.tau1.upper,
        "lower um": file.pr_cm_given_um.lower,
        "upper um": file.pr_cm_given_um.upper,
        "inference seconds": time.process_time() - begun,
    }
    return numbers, ours.p_unique[sample.table.counts == 1]


def measure_sample(sample: Sample, number: int) -> Outcome:
    """Fit models to a sample, and estimate by every method but ours."""
    table, sizes, fraction = sample.table, sample.sizes, sample.fraction
    rows, counts, levels = table.rows, table.counts, table.levels
    alone = counts == 1
    n_uniques, n_pairs = int(alone.sum()), int((counts == 2).sum())
    begun = time.process_time()
    found: list[Any] = []
    for precision in recommended_precisions(table.n_records):
        margins = MarginScores(rows, levels, precision=precision, counts=counts)
        found.append(anneal(margins, restarts=1, seed=number, workers=1).best)
    models = np.array(found, dtype=np.uint64)
    searched = time.process_time()
    printed = printed_estimate(table, list(models[:1]), fraction=fraction)
    apart = printed_estimate(table, [[0] * table.n_variables], fraction=fraction)
    rates = np.exp(latent_classes.log_expected(rows, counts, levels, number))
    classes_unique = np.exp(-rates * (1 - fraction) / fraction)[alone]
    structure = {int(size): int(n) for size, n in enumerate(np.bincount(counts)) if n}
    pitman = estimate_pitman(structure, sample.n_people)
    zayatz = estimate_zayatz(structure, sample.n_people)
    whole = np.repeat(rows, counts, axis=0).astype(np.uint32) + np.uint32(1)
    msus = find_minimal_uniques(whole, listing=False, workers=1)
    # Sample uniques come in the order of their classes, as the repeated rows do.
    by_size = msus.counts.astype(np.float64)
    weigh = {
        kind: by_size @ np.array(size_weights(table.n_variables, kind), dtype=np.float64)
        for kind in ("suda", "is")
    }
    lost = float("nan")
    numbers = {
        "records": table.n_records,
        "uniques": n_uniques,
        "pairs": n_pairs,
        f"{_TRUE} tau1": int((sizes[alone] == 1).sum()),
        f"{_TRUE} um": n_uniques / sizes[alone].sum() if n_uniques else lost,
        "printed tau1": printed.file.tau1.value,
        "printed um": printed.file.pr_cm_given_um.value,
        "main effects tau1": apart.file.tau1.value,
        "latent classes tau1": classes_unique.sum(),
        "pitman tau1": pitman.population_uniques * fraction if pitman else lost,
        "zayatz tau1": zayatz.uniques_of_both if zayatz else lost,
        "dis um": float(dis(n_uniques, 2 * n_pairs, str(fraction)) or 0),
        "search seconds": searched - begun,
        "rival seconds": time.process_time() - searched,
    }
    scores = {
        "printed": printed.p_unique[alone],
        "main effects": apart.p_unique[alone],
        "latent classes": classes_unique,
        "suda": weigh["suda"],
        "is": weigh["is"],
    }
    return Outcome(numbers, sizes[alone], scores, models)
