"""Whether nearest records are partners, told by how far they are ahead of the second nearest.

The margin of a record is the cost of its second nearest candidate less that of its nearest. Somebody
without a partner is as far ahead by chance as a record is within its own file, the record itself left
out: there nobody has a partner. That holds where values of one file are blurred as well. Costs are
larger between blurred values and true ones than within the true file, so that counting pairs up to a
cost shows nothing; margins hardly change.

With a share r of margins of at least t within the files and K of n between them, at most
n r + N (1 - r) of these K are to be expected if N have a partner: so N is at least
(K - n r) / (1 - r). The largest of these over t is taken, with r at its upper limit (0.999, of the file
where it is larger) and two standard errors. A margin is of somebody without a partner with a
probability of at most (n - N) f0 / f, where f0 and f are the densities of margins within and between
the files (Efron's local false discovery rate); their ratio is fitted so that it falls with the margin.

Where records of one file were made alike, as by microaggregation, margins within that file are too
small: then no number of partners follows. B. Efron, Large-scale inference (2010), chapter 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.partners.one_partner import falling

Floats = NDArray[np.float64]

_GRID = 200
_SURE = 0.999
_Z = 2.0
_FEWEST = 20
_SMALL = 0.25


@dataclass(frozen=True, eq=False)
class MarginEvidence:
    """What margins say of partners.

    Attributes
    ----------
    least
        How many records of the first file have a partner at the least.
    starts, shares
        The probability of being of somebody without a partner, for margins from each start on.
    """

    least: float
    starts: Floats = field(repr=False)
    shares: Floats = field(repr=False)

    def wrong(self, margins: Floats) -> Floats:
        """Return the probability that each margin is of somebody without a partner."""
        place = np.searchsorted(self.starts, margins, side="right") - 1
        return np.where(place < 0, 1.0, self.shares[np.maximum(place, 0)])


def margin_evidence(
    between: Floats,
    within: tuple[Floats, Floats],
    *,
    n_records: int,
    counts: bool = True,
    by_small: bool = False,
    alike: float = 1.0,
) -> MarginEvidence | None:
    """Hold margins between two files against those within each; None where there are too few.

    `n_records` are in the first file, of which `between` may be a part. Without `counts`, as where
    records were made alike, no partner is taken to be certain. With `by_small`, how many are alone is
    estimated from small margins for the shares, and not for the number of partners. So many records
    go together as `alike` says, and count as one for errors.

    Examples
    --------
    >>> apart = np.linspace(0, 1, 100)
    >>> found = margin_evidence(np.append(apart, np.full(100, 9.0)), (apart, apart), n_records=200)
    >>> 80 < found.least <= 100, found.wrong(np.array([0.1, 9.0])).round(1).tolist()
    (True, [1.0, 0.0])
    """
    between = between[np.isfinite(between)]
    sides = [side[np.isfinite(side)] for side in within]
    if min(map(len, (between, *sides))) < _FEWEST:
        return None
    number = least_partners(between, sides, alike) if counts else 0.0
    n_alone = len(between) - number
    if by_small:
        n_alone = min(n_alone, alone_by_small(between, np.concatenate(sides), alike))
    starts, shares = _falling_shares(between, np.concatenate(sides), n_alone)
    return MarginEvidence(number * n_records / len(between), starts, shares)


def least_partners(between: Floats, sides: list[Floats], alike: float = 1.0) -> float:
    """Return how many records have a partner at the least."""
    from scipy.special import betaincinv

    n = len(between)
    limits = np.unique(np.quantile(between, np.linspace(0, 1, _GRID)))
    counts = _at_least(between, limits)
    rates = np.zeros(len(limits))
    for side in sides:
        reached = _at_least(side, limits) / alike
        others = len(side) / alike - reached
        has_others = others * alike > 0.5
        upper = betaincinv(reached + 1.0, np.where(has_others, others, 1.0), _SURE)
        upper = np.where(has_others, upper, 1.0)
        rates = np.maximum(rates, upper)
    usable = rates < 1.0
    if not usable.any():
        return 0.0
    counts, rates = counts[usable], rates[usable]
    by_chance = n * rates + _Z * np.sqrt(alike * n * rates * (1 - rates))
    return max(float(((counts - by_chance) / (1 - rates)).max()), 0.0)


def alone_by_small(between: Floats, within: Floats, alike: float = 1.0) -> float:
    """Return how many records are alone at the most, by how many have small margins.

    A quarter of the margins within the files are below some limit, and so are a quarter of those alone.
    Others with small margins are counted besides, so that the number is rather too large; one standard
    error is added. (Storey's estimate of the share of true hypotheses.)

    Examples
    --------
    >>> apart = np.linspace(0, 1, 100)
    >>> round(alone_by_small(np.append(apart, np.full(100, 9.0)), apart))
    120
    """
    limit = float(np.quantile(within, _SMALL))
    n_small = int(np.count_nonzero(between <= limit))
    share = float(np.count_nonzero(within <= limit)) / len(within)
    return (n_small + math.sqrt(alike * n_small)) / max(share, _SMALL)


def _at_least(values: Floats, limits: Floats) -> NDArray[np.int64]:
    return len(values) - np.searchsorted(np.sort(values), limits, side="left")


def _falling_shares(between: Floats, within: Floats, n_alone: float) -> tuple[Floats, Floats]:
    """Return shares of those alone that fall with the margin, and the margins they begin at."""
    values, places = np.unique(np.concatenate((between, within)), return_inverse=True)
    ours = np.bincount(places[: len(between)], minlength=len(values)).astype(np.float64)
    theirs = np.bincount(places[len(between) :], minlength=len(values)).astype(np.float64)
    theirs *= n_alone / len(within)
    # One of those alone may be as far ahead as anybody: few that are farthest ahead prove nothing.
    theirs[-1] += 1.0
    # So that no ratio is infinite where nobody between the files is.
    ours += 1e-9
    ratios = np.clip(falling(theirs, ours) / ours, 0.0, 1.0)
    # Rounding must not make them rise.
    return values, np.minimum.accumulate(ratios)


def margins_of(best: Floats, second: Floats) -> Floats:
    """Return second least less least costs; NaN where there are no two candidates.

    Examples
    --------
    >>> margins_of(np.array([1.0, 2.0]), np.array([4.0, math.inf])).tolist()
    [3.0, nan]
    """
    with np.errstate(invalid="ignore"):
        found = second - best
    return np.where(np.isfinite(found), found, math.nan)
