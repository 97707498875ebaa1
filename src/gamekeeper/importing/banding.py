"""Bands of printed answers as names of categories, in the style that their ends need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gamekeeper.algorithms.categories.bands import Band, BandStyle, Bound
from gamekeeper.algorithms.categories.printed_bands import PrintedBands
from gamekeeper.mapping.variables.definitions import DEFINITION, Interval


def bands_of(read: PrintedBands) -> dict[str, Band]:
    """Return the band of every answer that is one."""
    return {text: Band(_bound(low), _bound(high)) for text, (low, high) in read.ends.items()}


def interval_definition(name: str, bands: Mapping[str, Band], description: str = "") -> Interval:
    """Return the definition of a variable with these bands.

    Whole numbers are in the inclusive style, others half-open. The range starts at 0 unless a
    band has a number below.
    """
    whole = all(
        isinstance(end, int | float) for band in bands.values() for end in (band.low, band.high)
    )
    style = BandStyle.INCLUSIVE if whole else BandStyle.HALF_OPEN
    below = any(-math.inf < band.low < 0 or band.high < 0 for band in bands.values())
    space = Band(-math.inf if below else 0, math.inf)
    names = dict.fromkeys(band.within(space).name(style) for band in bands.values())
    tree: dict[str, Any] = {
        "name": name,
        "description": description,
        "scale": "interval",
        "bands": list(names),
    }
    if not whole:
        tree["style"] = "half-open"
    if below:
        tree["from"] = None
    made = DEFINITION.validate_python(tree)
    assert isinstance(made, Interval)
    return made


def _bound(end: Fraction | float) -> Bound:
    if isinstance(end, Fraction) and end.denominator == 1:
        return end.numerator
    return end
