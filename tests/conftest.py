"""Settings for all tests.

By default every run draws the same examples, so that a red test is red for everybody. The profile
`thorough` draws many new ones each time: HYPOTHESIS_PROFILE=thorough make test
"""

from __future__ import annotations

import gc
import os

from hypothesis import settings

settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=1_500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_finish() -> None:
    """Take all that was imported out of the garbage collector's rounds: a twentieth of the time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Give it back: libraries complain of what is left when Python ends."""
    gc.unfreeze()
