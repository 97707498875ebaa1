"""Time and memory of one piece of work, as a row of a table."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Row", "measured"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: what, how large the output is, and what it cost."""

    name: str
    output: int
    wall: float
    cpu: float
    peak_mb: float
    aim: str = ""


def measured(
    name: str,
    work: Callable[[], T],
    *,
    output: Callable[[T], int],
    aim: str = "",
    memory: bool = True,
) -> tuple[Row, T]:
    """Run once for time and, where asked for, once more for Python's peak memory.

    The tracer slows work down several times, so the two are never taken in one run.
    """
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = 0.0
    if memory:
        gc.collect()
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return Row(name, output(result), wall, cpu, peak, aim), result
