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
    runs: int = 1,
) -> tuple[Row, T]:
    """Run for time, the best of so many, and where asked for once more for Python's peak memory.

    The tracer slows work down several times, so the two are never taken in one run.
    """
    result, wall, cpu = _timed(work)
    for _ in range(runs - 1):
        result, again, own = _timed(work)
        wall, cpu = min(wall, again), min(cpu, own)
    peak = 0.0
    if memory:
        gc.collect()
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return Row(name, output(result), wall, cpu, peak, aim), result


def _timed(work: Callable[[], T]) -> tuple[T, float, float]:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu
