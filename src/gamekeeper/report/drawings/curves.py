"""Code size against prevalence as a small step plot, drawn by a template.

The same scale serves all variables of a report, so that their plots can be compared. The number
of categories has a linear axis, on which areas can be compared, or a logarithmic one, on which
small numbers can be read; arbitrary precision has a line of its own at the top.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.categories.prevalence import SizeCurve
from gamekeeper.wording import categories_text, count_of, number_text

_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000)
_MOST_TICKS = 6
_TICK_SPACE = 1.4


@dataclass(frozen=True, slots=True)
class StepPlot:
    """A curve as SVG path data, the area under it, its last point, and the prevalence asked for."""

    path: str
    area: str
    end: tuple[float, float]
    asked: float


@dataclass(frozen=True, slots=True)
class Frame:
    """The scale that plots share, in points.

    `largest` is the largest number of categories that has a bound.

    Examples
    --------
    >>> frame = Frame.around([SizeCurve(4, (8, 2))], width=100, height=32)
    >>> frame.plot(SizeCurve(4, (8, 2)), Fraction(0)).path
    'M0,0H50V24'
    """

    width: float
    height: float
    largest: float
    is_unbounded: bool
    is_log: bool

    @classmethod
    def around(
        cls, curves: Iterable[SizeCurve], *, width: float, height: float, is_log: bool = False
    ) -> Frame:
        """Make a frame of so many points in which all the curves fit."""
        sizes = {size for curve in curves for size in curve.sizes}
        finite = [size for size in sizes if size != math.inf]
        return cls(width, height, max([*finite, 2]), math.inf in sizes, is_log)

    @property
    def _roof(self) -> float:
        """The height that the line of arbitrary precision takes from the plot."""
        return 0.2 * self.height if self.is_unbounded else 0.0

    def x(self, prevalence: Fraction | float) -> float:
        """Return how far to the right a prevalence is."""
        return round(float(prevalence) * self.width, 1)

    def y(self, size: float) -> float:
        """Return how far down a number of categories is."""
        if size == math.inf:
            return round(self._roof / 3, 1)
        share = math.log(size, self.largest) if self.is_log else size / self.largest
        return round(self.height - share * (self.height - self._roof), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return heights and names for the axis, not too many."""
        fitting = [tick for tick in _TICKS if tick * _TICK_SPACE <= self.largest]
        every = math.ceil(len(fitting) / _MOST_TICKS)
        shown = [*fitting[::every], self.largest]
        named = [(self.y(tick), number_text(tick)) for tick in shown]
        return [*named, (self.y(math.inf), "any")] if self.is_unbounded else named

    def plot(self, curve: SizeCurve, asked: Fraction) -> StepPlot:
        """Return a curve that has at least one step as drawn in this frame."""
        steps = curve.steps
        path = f"M{self.x(0):g},{self.y(steps[0][2]):g}"
        for _, stop, _ in steps:
            # The very last point of a curve may lie lower than its last step.
            height = curve.at(stop)
            path += f"H{self.x(stop):g}V{self.y(height):g}"
        area = f"{path}V{self.height:g}H{self.x(0):g}Z"
        return StepPlot(path, area, (self.x(steps[-1][1]), self.y(curve.end)), self.x(asked))


def runs(curve: SizeCurve) -> list[tuple[int, int, float]]:
    """Return the runs (from, to, size) of thresholds that have the same number of categories.

    Examples
    --------
    >>> runs(SizeCurve(9, (8, 8, 2)))
    [(1, 2, 8), (3, 3, 2)]
    """
    found: list[tuple[int, int, float]] = []
    for needed, size in enumerate(curve.sizes, start=1):
        first = found.pop()[0] if found and found[-1][2] == size else needed
        found.append((first, needed, size))
    return found


def curve_text(curve: SizeCurve) -> str:
    """Return a curve in words, for those who cannot see it.

    Where the very last point has a size of its own, that is said too.

    Examples
    --------
    >>> curve_text(SizeCurve(4, (8, 2)))
    '8 categories up to a prevalence of 50%, 2 categories at exactly 50%, then none'
    """
    parts = [
        f"{categories_text(size)} up to a prevalence of {number_text(100 * stop)}%"
        for _, stop, size in curve.steps
    ]
    parts += [
        f"{categories_text(size)} at exactly {number_text(100 * last)}%"
        for last, _, size in curve.last_point
    ]
    left_out = len(parts) - _MOST_TICKS
    shown = ", ".join(parts[:_MOST_TICKS])
    if left_out > 0:
        return f"{shown}, and {count_of(left_out, 'more step')}"
    return f"{shown}, then none"
