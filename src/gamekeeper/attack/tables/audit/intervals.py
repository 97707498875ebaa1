"""What is known of a hidden cell: how small and how large it can be, and how that stands to a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction


class Standing(StrEnum):
    """How a rule stands."""

    MET = "met"
    BROKEN = "broken"
    NOT_PROVEN = "not proven"


@dataclass(frozen=True, repr=False)
class Interval:
    """What is known of a hidden cell: proven bounds, and values that are shown to be possible."""

    low: Fraction | None
    high: Fraction | None
    reached_low: Fraction | None
    reached_high: Fraction | None
    is_endless: bool
    slack: Fraction = Fraction(0)

    def doubted(self) -> Interval:
        """Return it without what is shown to be possible, where that rests on what nobody said."""
        return replace(self, reached_low=None, reached_high=None, is_endless=False)

    @property
    def is_known(self) -> bool:
        """Whether the figure can be recomputed, but for rounding."""
        return self.low is not None and self.high is not None and self.high - self.low <= self.slack

    @property
    def is_open(self) -> bool:
        """Whether two different figures are shown to be possible."""
        if self.is_endless:
            return True
        return (
            self.reached_low is not None
            and self.reached_high is not None
            and self.reached_high - self.reached_low > self.slack
        )

    def is_within(self, percent: Fraction) -> bool:
        """Whether a guess of the middle is off by at most so many percent."""
        return (
            self.low is not None
            and self.high is not None
            and not self.is_endless
            and _is_near(self.low, self.high, percent)
        )

    def is_beyond(self, percent: Fraction) -> bool:
        """Whether possible figures are shown that no guess is so near to."""
        if self.is_endless:
            return True
        if self.reached_low is None or self.reached_high is None:
            return False
        return not _is_near(self.reached_low, self.reached_high, percent)

    @property
    def hiding(self) -> Standing:
        """How it stands that the figure cannot be recomputed."""
        if self.is_known:
            return Standing.BROKEN
        return Standing.MET if self.is_open else Standing.NOT_PROVEN

    def hiding_beyond(self, percent: Fraction) -> Standing:
        """Say how it stands that the figure is not known to within so many percent."""
        if self.is_known or self.is_within(percent):
            return Standing.BROKEN
        return Standing.MET if self.is_beyond(percent) else Standing.NOT_PROVEN

    def reaches(self, low: Fraction, high: Fraction) -> Standing:
        """Say whether an attacker must think figures as low and as high as these possible."""
        if (self.low is not None and self.low > low) or (
            self.high is not None and not self.is_endless and self.high < high
        ):
            return Standing.BROKEN
        is_low = self.reached_low is not None and self.reached_low <= low
        is_high = self.is_endless or (self.reached_high is not None and self.reached_high >= high)
        return Standing.MET if is_low and is_high else Standing.NOT_PROVEN


def _is_near(low: Fraction, high: Fraction, percent: Fraction) -> bool:
    return (high - low) * 100 <= percent * abs(high + low)
