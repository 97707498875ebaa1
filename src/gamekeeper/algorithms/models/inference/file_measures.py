"""Measures of a whole file: sums over its sample uniques of what is inferred about each.

tau1 = sum of P(F=1), tau2 = sum of E[1/F], Pr(CM|UM) = n1 / sum of E[F], Pr(CM|SU) = tau2 / n1, over
the n1 sample uniques. Intervals hold what is not known of the laws, by draws, and the chance in F
itself, by the normal law. Skinner and Elliot 2002; Smith's thesis, chapter 7.

Where classes were merged, a record that is alone in the population was alone before, and its class
has only grown: P(F=1) and E[1/F] are at most, E[F] is at least what they were. Two estimates, each
calibrated by its own classes, need not agree to that; so each record is held to it, and no sum ends
up beyond the bounds of the sum before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.inference.rate_mixture import MixedSizes

Floats = NDArray[np.float64]

_N_DRAWS = 512


@dataclass(frozen=True, slots=True)
class Measure:
    """One estimate of the file with an interval; NaN where there are no sample uniques."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class FileEstimate:
    """Estimates over the sample uniques of a file.

    Attributes
    ----------
    n_uniques
        The number of sample uniques.
    tau1
        The expected number of them that are population uniques.
    tau2
        The expected number of right matches when each is matched to one person of its class.
    pr_cm_given_um, pr_cm_given_su
        The chance that a unique match is correct, from the population to the file and from a
        sample unique to the population.
    """

    n_uniques: int
    tau1: Measure
    tau2: Measure
    pr_cm_given_um: Measure
    pr_cm_given_su: Measure


@dataclass(frozen=True, slots=True, repr=False)
class FinerClasses:
    """What was inferred of the same sample uniques, and of the file, before classes were merged."""

    p_unique: Floats
    p_match: Floats
    expected_size: Floats
    file: FileEstimate


def sum_over_uniques(
    sizes: MixedSizes,
    draws: Floats | None,
    levels: tuple[float, float],
    finer: FinerClasses | None = None,
    *,
    seed: int = 0,
) -> FileEstimate:
    """Return the measures of a file from what is known of its sample uniques.

    Parameters
    ----------
    sizes
        Of each sample unique what is known of F.
    draws
        Draws of the sums of P(F=1), E[1/F] and E[F], for what is not known of the laws; None where
        they are taken as known. The chance in F itself is added.
    levels
        The two levels of the intervals.
    finer
        Where classes were merged, what was inferred of these sample uniques before.
    seed
        Of the chance in F.

    Examples
    --------
    >>> from gamekeeper.algorithms.models.inference.rate_mixture import mix_sizes
    >>> sizes = mix_sizes(np.array([-3.0]), np.array([1]), np.array([9.0]))
    >>> found = sum_over_uniques(sizes, None, (0.025, 0.975))
    >>> bool(found.tau1.value == sizes.p_unique[0])
    True
    """
    n = len(sizes.p_unique)
    if not n:
        nothing = Measure(np.nan, np.nan, np.nan)
        return FileEstimate(0, Measure(0.0, 0.0, 0.0), Measure(0.0, 0.0, 0.0), nothing, nothing)
    unique, single, people = sizes.p_unique, sizes.p_match, sizes.expected_size
    free = np.array([unique.sum(), single.sum(), people.sum()])
    if finer is not None:
        unique = np.minimum(unique, finer.p_unique)
        single = np.minimum(single, finer.p_match)
        people = np.maximum(people, finer.expected_size)
    sums = np.array([unique.sum(), single.sum(), people.sum()])
    # 1/F lies between 0 and 1 with mean p, so its variance is at most p (1 - p).
    chance = np.array(
        [
            (unique * (1 - unique)).sum(),
            (single * (1 - single)).sum(),
            sizes.variance.sum(),
        ]
    )
    centred = np.zeros((1, 3)) if draws is None else draws - free
    normal = np.random.default_rng([_N_DRAWS, seed]).standard_normal((_N_DRAWS, 3))
    spread = sums + np.resize(centred, (_N_DRAWS, 3)) + normal * np.sqrt(np.maximum(chance, 0.0))
    spread = np.clip(spread, [0.0, 0.0, float(n)], [float(n), float(n), np.inf])

    def measure(value: float, values: Floats) -> Measure:
        low, high = np.quantile(values, levels)
        return Measure(float(value), float(min(low, value)), float(max(high, value)))

    tau1, tau2 = measure(sums[0], spread[:, 0]), measure(sums[1], spread[:, 1])
    if finer is not None:
        tau1 = _at_most(tau1, finer.file.tau1)
        tau2 = _at_most(tau2, finer.file.tau2)
    return FileEstimate(
        n,
        tau1,
        tau2,
        measure(n / sums[2], n / spread[:, 2]),
        measure(sums[1] / n, spread[:, 1] / n),
    )


def spanned(file: FileEstimate, readings: Sequence[FileEstimate]) -> FileEstimate:
    """Return an estimate whose intervals also hold those of other readings of the same file.

    Examples
    --------
    >>> one, two = (Measure(5.0, 4.0, 6.0), Measure(3.0, 2.0, 4.5))
    >>> spanned(FileEstimate(9, one, one, one, one), [FileEstimate(9, two, two, two, two)]).tau1
    Measure(value=5.0, lower=2.0, upper=6.0)
    """

    def over(name: str) -> Measure:
        every: list[Measure] = [getattr(one, name) for one in (file, *readings)]
        lower, upper = min(one.lower for one in every), max(one.upper for one in every)
        return Measure(every[0].value, lower, upper)

    names = ("tau1", "tau2", "pr_cm_given_um", "pr_cm_given_su")
    return FileEstimate(file.n_uniques, *map(over, names))


def _at_most(measure: Measure, before: Measure) -> Measure:
    """Return a measure of some of the records that were summed before; sums round differently."""
    value = min(measure.value, before.value)
    return Measure(value, min(measure.lower, value), min(measure.upper, before.upper))
