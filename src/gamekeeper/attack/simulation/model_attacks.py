"""What an intruder with models achieves on a sample: the keys that rank first, and at equal cost."""

from __future__ import annotations

from gamekeeper.algorithms.intrusion.strategies import Direction
from gamekeeper.algorithms.models.fitting.annealing import anneal
from gamekeeper.attack.models.sampling import estimate_sample
from gamekeeper.attack.simulation.sample import Sample

MODEL_CURVES = ("models_top10.pr_cm", "models_mcmcmc1.pr_cm", "models_mcmcmc2.pr_cm")
"""The probabilities of a correct match of the three attacks."""

_NAMES = {"top": "models_top10", "mcmcmc1": "models_mcmcmc1", "mcmcmc2": "models_mcmcmc2"}


def model_attacks(sample: Sample) -> dict[str, float | None]:
    """Return the probability of a match and the cost, with replacement, of attacks by models.

    Models are annealed at several precisions. The ten keys that rank first are matched from the
    sample to the population, the others from the population to the sample.
    """
    population = sample.population
    codes = sample.codes
    levels = [int(most) for most in population.codes.max(axis=0)]
    found = estimate_sample(
        codes,
        [level + bool((codes[:, place] == 0).any()) for place, level in enumerate(levels)],
        sample.fraction,
        lambda scores: anneal(scores, restarts=2, workers=1),
    )
    estimate = found.estimate
    # The classes of the population that the sampled classes are.
    places = population.classes[sample.records][found.first]
    chosen = sample.ranked_classes(places, estimate.p_match, estimate.expected_size)
    values: dict[str, float | None] = {}
    for way, classes in chosen.items():
        value = sample.attacked(classes, Direction.S2P if way == "top" else Direction.P2S)
        for part in ("pr_cm", "cost_with"):
            number = float(getattr(value, part)) if value.feasible else None
            values[f"{_NAMES[way]}.{part}"] = number
    return values
