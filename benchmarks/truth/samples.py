"""One sample of a population: models fitted to it alone, every estimate, and the truth.

What a sample gave is kept in a file, so that a run that was stopped goes on where it was.

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
from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.intrusion.dis import dis
from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores
from gamekeeper.algorithms.models.fitting.search import anneal
from gamekeeper.algorithms.models.inference.population_model import (
    calibrated_estimate,
    printed_estimate,
    recommended_precisions,
)
from gamekeeper.algorithms.superpopulation.pitman import estimate_pitman
from gamekeeper.algorithms.superpopulation.zayatz import estimate_zayatz
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
    """

    numbers: Mapping[str, float]
    sizes: NDArray[np.int64]
    scores: Mapping[str, Floats]

    @property
    def is_unique(self) -> NDArray[np.bool_]:
        """Which sample uniques are population unique."""
        return self.sizes == 1


def kept_sample(setting: Setting, number: int, folder: str) -> Outcome:
    """Return what a sample gave, from its file if there is one."""
    path = Path(folder) / f"{str(setting).replace(' ', '-')}-{number}.npz"
    if path.exists():
        try:
            with np.load(path) as kept:
                return _unpacked(kept)
        except (BadZipFile, KeyError, ValueError):
            path.unlink()
    outcome = measure_sample(setting, number)
    half = path.with_suffix(".half.npz")
    numbers = {f"number {name}": np.array(value) for name, value in outcome.numbers.items()}
    scores = {f"score {name}": values for name, values in outcome.scores.items()}
    arrays: dict[str, Any] = {"sizes": outcome.sizes, **numbers, **scores}
    np.savez_compressed(half, **arrays)
    half.rename(path)
    return outcome


def _unpacked(kept: Any) -> Outcome:
    def named(kind: str) -> dict[str, Any]:
        return {name[len(kind) :]: kept[name] for name in kept.files if name.startswith(kind)}

    numbers = {name: float(value) for name, value in named("number ").items()}
    return Outcome(numbers, kept["sizes"], named("score "))


def measure_sample(setting: Setting, number: int) -> Outcome:
    """Draw one sample, fit models to it, and estimate by every method."""
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
    rows, sizes = codes[chosen[first]], truth[found]
    levels = [int(n) + 1 for n in codes.max(axis=0)]
    alone = counts == 1
    n_uniques, n_pairs = int(alone.sum()), int((counts == 2).sum())
    begun = time.process_time()
    models: list[Any] = []
    for precision in recommended_precisions(len(chosen)):
        margins = MarginScores(rows, levels, precision=precision, counts=counts)
        models.append(anneal(margins, restarts=1, seed=number, workers=1).best)
    table = ClassTable(rows, counts, levels)
    searched = time.process_time()
    ours = calibrated_estimate(table, models, fraction=fraction)
    inferred = time.process_time()
    printed = printed_estimate(table, models[:1], fraction=fraction)
    apart = printed_estimate(table, [[0] * setting.n_variables], fraction=fraction)
    rates = np.exp(latent_classes.log_expected(rows, counts, levels, number))
    classes_unique = np.exp(-rates * (1 - fraction) / fraction)[alone]
    structure = {int(size): int(n) for size, n in enumerate(np.bincount(counts)) if n}
    pitman = estimate_pitman(structure, len(codes))
    zayatz = estimate_zayatz(structure, len(codes))
    msus = find_minimal_uniques(np.repeat(rows, counts, axis=0) + 1, listing=False, workers=1)
    # Sample uniques come in the order of their classes, as the repeated rows do.
    by_size = msus.counts.astype(np.float64)
    weigh = {
        kind: by_size @ np.array(size_weights(setting.n_variables, kind), dtype=np.float64)
        for kind in ("suda", "is")
    }
    lost = float("nan")
    file = ours.file
    numbers = {
        "records": len(chosen),
        "uniques": n_uniques,
        "pairs": n_pairs,
        f"{_TRUE} tau1": int((sizes[alone] == 1).sum()),
        f"{_TRUE} um": n_uniques / sizes[alone].sum() if n_uniques else lost,
        "ours tau1": file.tau1.value,
        "ours um": file.pr_cm_given_um.value,
        "lower tau1": file.tau1.lower,
        "upper tau1": file.tau1.upper,
        "lower um": file.pr_cm_given_um.lower,
        "upper um": file.pr_cm_given_um.upper,
        "printed tau1": printed.file.tau1.value,
        "printed um": printed.file.pr_cm_given_um.value,
        "main effects tau1": apart.file.tau1.value,
        "latent classes tau1": classes_unique.sum(),
        "pitman tau1": pitman.population_uniques * fraction if pitman else lost,
        "zayatz tau1": zayatz.uniques_of_both if zayatz else lost,
        "dis um": float(dis(n_uniques, 2 * n_pairs, str(fraction)) or 0),
        "search seconds": searched - begun,
        "inference seconds": inferred - searched,
    }
    scores = {
        "ours": ours.p_unique[alone],
        "printed": printed.p_unique[alone],
        "main effects": apart.p_unique[alone],
        "latent classes": classes_unique,
        "suda": weigh["suda"],
        "is": weigh["is"],
    }
    return Outcome(numbers, sizes[alone], scores)
