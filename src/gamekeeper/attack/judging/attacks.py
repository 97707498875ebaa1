"""Attacks on the sample uniques and keys that a measure ranks first, tried on the population.

Beside the two plain strategies of matching sample uniques, each measure has the ten sample uniques
that it ranks first looked for in the population. A measure that says of every key how many people
have it can also match the cost of the search for any sample unique (MCMCMC1, MCMCMC2). Smith's
thesis, chapter 7. Costs are the people searched on average where anybody may be met again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.intrusion.strategies import Direction, matching_probabilities
from gamekeeper.attack.judging.scores import AttackValue, RecordEstimates
from gamekeeper.attack.simulation.sample import TOP, Sample

PLAIN = ("pr_cm_given_um", "pr_cm_given_su", "pr_pu_given_su", "dis")
"""What needs no measure: two strategies, and two numbers to hold beside them."""

BY_MEASURE = ("top10", "mcmcmc1", "mcmcmc2")
"""Attacks that rank by a measure."""

ATTACKS = (*PLAIN, *BY_MEASURE)
"""Every attack by its name."""


def plain_attacks(sample: Sample) -> dict[str, AttackValue]:
    """Return what the strategies without a measure achieve, and what DIS says of the first.

    An attack without a target is left out, and DIS where it is not defined.
    """
    found: dict[str, AttackValue] = {}
    alone = sample.class_counts == 1
    for name, direction in (("pr_cm_given_um", Direction.P2S), ("pr_cm_given_su", Direction.S2P)):
        value = _evaluated(sample, alone, direction)
        if value is not None:
            found[name] = value
    if sample.n_uniques:
        shares = matching_probabilities(sample.population.sizes, sample.class_counts, exact=False)
        found["pr_pu_given_su"] = AttackValue(float(shares.pr_pu_given_su))
    if sample.dis is not None:
        found["dis"] = AttackValue(float(sample.dis))
    return found


def top_attack(
    values: NDArray[np.float64], population_sizes: NDArray[np.int64], n_people: int
) -> AttackValue | None:
    """Return what looking for the ten sample uniques of the highest score achieves.

    Where several have the score of the tenth, the mean over all choices among them. Every sample
    unique has its score and its true class size F; `n_people` is the size of the population.

    Examples
    --------
    >>> scores, sizes = np.array([3.0] * 9 + [2.0, 2.0]), np.array([1] * 9 + [1, 2])
    >>> top_attack(scores, sizes, 1000).pr_cm
    0.975
    """
    if not len(values):
        return None
    n_taken = min(TOP, len(values))
    least = np.sort(values)[-n_taken]
    chances, surely, tied = 1 / population_sizes, values > least, values == least
    left = n_taken - int(np.count_nonzero(surely))
    total = float(chances[surely].sum()) + left * float(chances[tied].mean())
    pr_cm = total / n_taken
    return AttackValue(pr_cm, n_people * pr_cm, float(n_taken))


def matched_attacks(sample: Sample, told: RecordEstimates) -> dict[str, AttackValue]:
    """Return the attacks that cost as much as the search for any sample unique.

    Keys are taken in order of their expected size, until as many people have them in truth
    (`mcmcmc1`) or are expected to (`mcmcmc2`) as have the key of a sample unique.
    """
    drawn = sample.population.classes[sample.records]
    chosen = sample.ranked_classes(drawn, told.match, told.expected_size)
    found = {
        name: _evaluated(sample, chosen[name], Direction.P2S) for name in ("mcmcmc1", "mcmcmc2")
    }
    return {name: value for name, value in found.items() if value is not None}


def _evaluated(
    sample: Sample, cells: NDArray[np.bool_], direction: Direction
) -> AttackValue | None:
    value = sample.attacked(cells, direction)
    if not value.feasible:
        return None
    return AttackValue(float(value.pr_cm), float(value.cost_with), float(value.n_cells))
