"""What near twins say of the level of a file: pairs of records that differ in one variable alone.

Where a file has few pairs, it has many more near twins, and the models say how many to expect: with a
variable v left out, a sample unique has the rate e^(level + z_v), z_v being the log of the rate that is
usual for its class without v (`usual_rates`), of which e^(level + z) are twins in v too. Two records that differ in
one variable differ in no other, so that no pair of records is counted twice, and none is a pair of the
file: near twins and pairs are two witnesses. The level of near twins is found as that of pairs is, by
a logistic regression over the classes of one and two records without v, for all v together, without
those that are pairs with v; and from it the prior of the level:

    mean      (1 - s) 0.2 + s (0.06 + 0.95 level of near twins),    s = near twins / (near twins + 15)
    deviation sqrt(0.18^2 + (1 - s) (0.3^2 - 0.18^2))

On the settings named in `rate_calibration` with 30 near twins or more, the line of the true level on
that of near twins rose by 0.86 to 1.08 from 0.06 to 0.08 without one of the populations, with a deviation of
0.15 to 0.19. On that one it erred by 0.09 to 0.30, the mean level of the others by 0.15 to 0.56, and by
less in none.

Cost: that of leaving out every variable. It is spared where there are so many pairs that a prior
changes nothing, or so many cells that it would take long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.decomposable.adjacency_masks import AdjacencyLike
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, JunctionTree
from gamekeeper.algorithms.models.inference.merged_classes import merge_classes
from gamekeeper.algorithms.models.inference.rate_calibration import LevelPrior
from gamekeeper.algorithms.models.inference.usual_rates import usual_log_rates
from gamekeeper.algorithms.models.latent.latent_classes import LatentClasses

Floats = NDArray[np.float64]

_MANY_PAIRS = 400
_MOST_CELLS = 50_000_000
_HALF_WEIGHT = 15.0
_BASE, _SHARE = 0.06, 0.95
_BETWEEN = 0.18
_SETTLED = 1e-9
_MOST_STEPS = 200
_LEAST_APART = 1e-6


def learn_level(
    table: ClassTable,
    models: Sequence[AdjacencyLike | JunctionTree],
    log_expected: Floats,
    weights: ArrayLike | None = None,
    latent: LatentClasses | None = None,
) -> LevelPrior:
    """Return the prior of the level that near twins of a file lead to.

    Parameters
    ----------
    table, models, weights, latent
        The classes of the sample, and the models with their weights.
    log_expected
        The log of the expected count of each class under these models.

    Examples
    --------
    >>> table = ClassTable([[0, 0], [0, 1], [1, 1], [2, 2]], [1, 1, 1, 1])
    >>> learn_level(table, [[0, 0]], np.zeros(4)).n_near
    2
    """
    usual = LevelPrior()
    n_cells = len(table) * sum(table.levels)
    is_small = table.n_variables < 2 or n_cells > _MOST_CELLS
    if is_small or np.count_nonzero(table.counts == 2) >= _MANY_PAIRS:
        return usual
    offsets: list[Floats] = []
    n_near, every = 0, (1 << table.n_variables) - 1
    rates = np.exp(usual_log_rates(log_expected))
    for variable in range(table.n_variables):
        merged = merge_classes(table, models, variable, weights=weights, latent=latent)
        numbers = table.numbers(every ^ 1 << variable)
        mean_rates = np.bincount(numbers, rates) / np.maximum(np.bincount(numbers), 1)
        apart = table.counts[merged.members] == 1
        near = (merged.counts == 2) & apart
        used = (merged.counts == 1) | near
        wide = usual_log_rates(merged.log_expected[used])
        # The rate without the variable, less that with it, of one class or the mean of two.
        narrow = mean_rates[numbers[merged.members[used]]] * np.exp(-wide)
        offsets.append(wide + np.log(np.maximum(1 - narrow, _LEAST_APART)) - math.log(2))
        n_near += int(np.count_nonzero(near))
    level = _level(np.concatenate(offsets), n_near)
    if level is None:
        return usual
    weight = n_near / (n_near + _HALF_WEIGHT)
    mean = (1 - weight) * usual.mean + weight * (_BASE + _SHARE * level)
    spread = _BETWEEN**2 + (1 - weight) * (usual.deviation**2 - _BETWEEN**2)
    return LevelPrior(mean, math.sqrt(spread), n_near)


def _level(offsets: Floats, n_near: int) -> float | None:
    """Return the level at which as many near twins are expected as there are, and half of one.

    Newton's method on a sum of logistic curves, whose steps are cut to 1; None where there are no
    records, or none could have a near twin.
    """
    if not len(offsets):
        return None
    top = float(offsets.max())
    wanted = min(n_near + 0.5, len(offsets) - 0.5)
    level = math.log(wanted / float(np.exp(offsets - top).sum())) - top
    for _ in range(_MOST_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(level + offsets, -500, 500)))
        step = (wanted - chance.sum()) / max(float((chance * (1 - chance)).sum()), 1e-300)
        level += float(np.clip(step, -1, 1))
        if abs(step) <= _SETTLED:
            return level
    return None
