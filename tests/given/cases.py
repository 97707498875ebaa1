"""How many random cases a test draws."""

from __future__ import annotations

import pytest
from hypothesis import settings

THOROUGH = settings.default is not None and settings.default.max_examples > 1_000
only_thoroughly = pytest.mark.skipif(not THOROUGH, reason="only in a thorough run (make thorough)")
"""What takes many seconds and finds what a cheaper test beside it would most likely find."""


def cases(number: int) -> settings:
    """Draw so many cases, or as many as the profile asks for if those are more.

    Every ordinary run draws the same ones, so that hundreds find what tens find; a thorough run
    draws more than any test asks for, and new ones each time.
    """
    return settings(max_examples=max(number, settings.default.max_examples))
