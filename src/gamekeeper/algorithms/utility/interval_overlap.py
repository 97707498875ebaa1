"""How much of two confidence intervals is common to both, one from before and one from after.

The mean of the two shares that each has in the other: 1 where they are the same, 0 where they touch.
Apart, it is 0, or with its sign minus the gap by the length of each, on average (Karr and others 2006).
An interval without length is covered or not; apart from another it has no sign that could be told.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

Number = TypeVar("Number", Fraction, float)


def signed_overlap(
    first: tuple[Number, Number], second: tuple[Number, Number]
) -> Number | int | None:
    """Return the overlap of two intervals, negative where they are apart; None if not known.

    Examples
    --------
    >>> signed_overlap((0.0, 4.0), (2.0, 6.0)), signed_overlap((0.0, 1.0), (2.0, 4.0))
    (0.5, -0.75)
    >>> signed_overlap((3.0, 3.0), (2.0, 4.0))
    0.5
    """
    common = min(first[1], second[1]) - max(first[0], second[0])
    lengths = [high - low for low, high in (first, second)]
    if min(lengths) < 0:
        raise ValueError("an interval ends before it begins")
    if common < 0 and 0 in lengths:
        return None
    shares = [common / length if length else 1 + common for length in lengths]
    return sum(shares) / 2  # type: ignore[return-value]


def overlap(first: tuple[Number, Number], second: tuple[Number, Number]) -> Number | int:
    """Return the overlap of two intervals, 0 where they are apart.

    Examples
    --------
    >>> overlap((0.0, 1.0), (2.0, 4.0))
    0
    """
    found = signed_overlap(first, second)
    return 0 if found is None or found < 0 else found
