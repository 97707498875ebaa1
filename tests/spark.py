"""Spark for tests: one session of one machine per run, where it is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from gamekeeper.data.engine.duckdb_engine import open_engine
from gamekeeper.data.engine.gate import Engine

ROOT = Path(__file__).parent.parent


class MissingError(Exception):
    """Spark cannot be run here; the text says why."""


def require_spark() -> None:
    """Refuse where Spark is not installed."""
    if find_spec("pyspark") is None or find_spec("grpc") is None:
        raise MissingError("it is not installed (make spark)")
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise MissingError("there is no Java")


@contextmanager
def local_spark(scratch: Path) -> Iterator[Callable[[Path], Engine]]:
    """Give what opens engines on one session, which lasts as long."""
    require_spark()
    with pytest.MonkeyPatch.context() as patch:
        # Workers are to find the kernels of tests.
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        # Statements that run once are not worth compiling well: a half of the time.
        patch.setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        with open_engine("local[2]", scratch=scratch):
            yield lambda folder: open_engine("local[2]", scratch=folder)
