"""Sampling fractions are read exactly, and what is none is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.errors import InputError


@pytest.mark.parametrize(
    ("written", "meant"),
    [("2%", "1/50"), (0.1, "1/10"), ("1/3", "1/3"), (1, "1"), (np.float64(0.3), "3/10")],
)
def test_fractions_are_read_exactly(written, meant):
    assert parse_fraction(written) == Fraction(meant)


@pytest.mark.parametrize(
    "written", [0, 0.0, -0.1, 1.01, "101%", "x", "", "1/0", math.nan, math.inf, "1e-99999", None]
)
def test_other_fractions_are_refused(written):
    with pytest.raises(InputError, match="above 0 and up to 1"):
        parse_fraction(written)
