"""Prevalence as an exact fraction: thresholds, the null rule and code size as a step function.

With |E| forms to match against, |S| of which have a variable, a prevalence p asks for the finest
categorization at which N = max(1, floor(|E| p)) of them can be matched; there is none when
|S| < |E| p or |S| = 0. Smith and Elliot, sections 2.1 and 5 with footnote 8. All in rationals:
in floating point floor(100 * 0.29) is 28.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from gamekeeper.algorithms.sampling_fraction import FractionLike, read_share
from gamekeeper.errors import InputError, Reason


def parse_prevalence(value: FractionLike) -> Fraction:
    """Read a prevalence between 0 and 1 exactly: '0.25', '1/3', '25%', 0.29, Fraction(1, 3).

    A float is taken at its shortest decimal form, so that 0.29 means 29/100.

    Examples
    --------
    >>> parse_prevalence("25%"), parse_prevalence(0.29)
    (Fraction(1, 4), Fraction(29, 100))
    """
    text, exact = read_share(value)
    if exact is None or not 0 <= exact <= 1:
        raise InputError(
            Reason.BAD_PREVALENCE,
            f"The prevalence '{text[:40]}' was asked for.",
            "A prevalence is a share of the forms, from 0 to 1.",
            "Write it as 0.25, 1/4 or 25%.",
        )
    return exact


def threshold(n_forms: int, prevalence: Fraction) -> int:
    """Return N, the number of forms that must be matched: max(1, floor(|E| p))."""
    return max(1, math.floor(n_forms * prevalence))


def is_null(n_forms: int, n_having: int, prevalence: Fraction) -> bool:
    """Tell whether too few forms have the variable: |S| < |E| p, or none at all."""
    return n_having < 1 or n_having < n_forms * prevalence


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """Code size against prevalence, exactly.

    `sizes[k - 1]` is the number of categories of the maximal harmonization for a threshold of k
    forms, k = 1 .. |S|; `math.inf` stands for arbitrary precision.

    Examples
    --------
    >>> curve = SizeCurve(4, (6, 3))
    >>> curve.at(Fraction(1, 2)), curve.at(Fraction(3, 4)), curve.area
    (3, 0, Fraction(3, 1))
    >>> curve.steps
    ((Fraction(0, 1), Fraction(1, 2), 6),)
    """

    n_forms: int
    sizes: Sequence[float]

    def at(self, prevalence: FractionLike) -> float:
        """Return the code size at a prevalence, 0 where there is none."""
        share = prevalence if isinstance(prevalence, Fraction) else parse_prevalence(prevalence)
        if is_null(self.n_forms, len(self.sizes), share):
            return 0
        return self.sizes[threshold(self.n_forms, share) - 1]

    @property
    def steps(self) -> tuple[tuple[Fraction, Fraction, float], ...]:
        """The pieces (from, to, size), each holding its lower end and not its upper.

        The very last point, p = |S| / |E|, has the threshold |S| to itself: see `last_point`.
        """
        # From k/|E| up to (k + 1)/|E| the threshold is max(k, 1), for k = 0 .. |S| - 1.
        pieces: list[tuple[Fraction, Fraction, float]] = []
        start = 0
        for size, run in groupby((*self.sizes[:1], *self.sizes[:-1])):
            stop = start + sum(1 for _ in run)
            pieces.append((Fraction(start, self.n_forms), Fraction(stop, self.n_forms), size))
            start = stop
        return tuple(pieces)

    @property
    def end(self) -> float:
        """The size at the very last point, p = |S| / |E|."""
        return self.sizes[-1] if self.sizes else 0

    @property
    def last_point(self) -> tuple[tuple[Fraction, Fraction, float], ...]:
        """The last point as a piece without width, where its size is not that of the last step."""
        if not self.sizes or self.steps[-1][2] == self.end:
            return ()
        last = Fraction(len(self.sizes), self.n_forms)
        return ((last, last, self.end),)

    @property
    def area(self) -> Fraction | float:
        """The area under the curve, `math.inf` where it is unbounded."""
        if not self.sizes:
            return Fraction(0)
        if math.inf in self.sizes:
            return math.inf
        total = self.sizes[0] + sum(self.sizes[: len(self.sizes) - 1])
        return Fraction(int(total), self.n_forms)

    @property
    def unbounded_up_to(self) -> Fraction:
        """The prevalence up to which the size is unbounded (0 where it never is)."""
        return max((stop for _, stop, size in self.steps if size == math.inf), default=Fraction(0))
