"""Settings for all tests.

By default every run draws the same examples, so that a red test is red for everybody. The profile
`thorough` draws many new ones each time: HYPOTHESIS_PROFILE=thorough make test
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.postgres import MissingError, TestServer, running_server

settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=1_500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# While tests are read, hardly anything that is made can go: there is no garbage to look for.
gc.disable()


def pytest_collection_finish() -> None:
    """Take all that was imported out of the garbage collector's rounds, and let it make fewer.

    Together a tenth of the time, and half of it where whole trees of sources are read.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 100)


def pytest_unconfigure() -> None:
    """Give it back: libraries complain of what is left when Python ends."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[TestServer]:
    """A PostgreSQL server, where its programs are found; what needs one is left out elsewhere."""
    try:
        with running_server() as server:
            yield server
    except MissingError as missing:
        pytest.skip(f"PostgreSQL is left out: {missing}")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Any]]:
    """What opens engines on one session of Spark, where it is installed, for all tests."""
    from tests.spark import MissingError, local_spark

    try:
        with local_spark(tmp_path_factory.mktemp("spark")) as opened:
            yield opened
    except MissingError as missing:
        pytest.skip(f"Spark is left out: {missing}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out because a program is not there: it would drown among other skips."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = {str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)}
    for reason in sorted(reason for reason in reasons if "is left out" in reason):
        terminalreporter.write_line(reason.removeprefix("Skipped: "))
