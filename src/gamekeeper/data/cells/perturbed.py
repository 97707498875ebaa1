"""What figures that are not shown as they are stand for: rounded ones, and those changed by chance.

A scheme tells which true figures a published one can have come from. Sums hold of the true figures,
and not of the published ones. Of values, a rounded one stands for all that lies within half a base,
or within a base where it was rounded at random; the ends are counted among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.releases.schemes import Conventional, Exact, RandomRounding, Scheme


@dataclass(frozen=True)
class Perturbed:
    """A cell that is published, but not as it is.

    - `figures`: what is published of it, in one table or in several.
    - `low`, `high`: how small and how large its true figure can be by these alone.
    """

    figures: tuple[Fraction, ...]
    low: Fraction
    high: Fraction | None

    def beside(self, other: Perturbed) -> Perturbed:
        """Return what both say together.

        >>> one, two = (Perturbed((Fraction(n),), Fraction(n - 1), Fraction(n + 1)) for n in (3, 4))
        >>> both = one.beside(two)
        >>> int(both.low), int(both.high)
        (3, 4)
        """
        ends = [own for own in (self.high, other.high) if own is not None]
        high = min(ends) if ends else None
        figures = tuple(dict.fromkeys([*self.figures, *other.figures]))
        return Perturbed(figures, max(self.low, other.low), high)

    def holds(self, figure: Fraction) -> bool:
        """Whether a figure is one of those that it can be."""
        return self.low <= figure and (self.high is None or figure <= self.high)

    @property
    def is_possible(self) -> bool:
        """Whether there is a figure that it can be."""
        return self.holds(self.low)


def behind(scheme: Scheme, figure: Fraction, *, whole: bool) -> Perturbed | None:
    """Return what a published figure can have come from; None for what is never published.

    >>> from gamekeeper.algorithms.releases.schemes import Conventional
    >>> found = behind(Conventional(5), Fraction(10), whole=False)
    >>> float(found.low), float(found.high)
    (7.5, 12.5)
    """
    if whole:
        reach = scheme.reach(int(figure)) if figure.denominator == 1 else None
        if reach is None:
            return None
        low, high = reach
        return Perturbed((figure,), Fraction(low), None if high is None else Fraction(high))
    if isinstance(scheme, Exact):
        return Perturbed((figure,), figure, figure)
    if (
        not isinstance(scheme, Conventional | RandomRounding)
        or (figure / scheme.base).denominator != 1
    ):
        return None
    off = Fraction(scheme.base, 2 if isinstance(scheme, Conventional) else 1)
    return Perturbed((figure,), figure - off, figure + off)
