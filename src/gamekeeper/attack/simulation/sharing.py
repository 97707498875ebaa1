"""A notional population handed to worker processes through shared memory.

Handing it over as an argument would be simpler, but a process that dies while it starts leaves
the parent writing into a pipe that nobody reads, for ever. A handle fits into the pipe as a whole.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from gamekeeper.attack.simulation.notional import NotionalPopulation

_PARTS = ("codes", "classes", "sizes", "strata")


@dataclass(frozen=True, slots=True)
class PopulationHandle:
    """Where a population lies: the name of the memory, and shape, type and place of each part."""

    name: str
    parts: tuple[tuple[str, tuple[int, ...], str, int], ...]


@contextmanager
def shared(population: NotionalPopulation) -> Generator[PopulationHandle]:
    """Put a population into shared memory as long as the context lasts."""
    arrays = {
        part: np.ascontiguousarray(array)
        for part in _PARTS
        if (array := getattr(population, part)) is not None
    }
    places: dict[str, int] = {}
    size = 0
    for part, array in arrays.items():
        places[part] = size
        size += -(-array.nbytes // 8) * 8
    memory = SharedMemory(create=True, size=max(size, 1))
    try:
        for part, array in arrays.items():
            _view(memory, array.shape, array.dtype.str, places[part])[...] = array
        yield PopulationHandle(
            memory.name,
            tuple((p, a.shape, a.dtype.str, places[p]) for p, a in arrays.items()),
        )
    finally:
        memory.close()
        memory.unlink()


def received(handle: PopulationHandle) -> NotionalPopulation:
    """Return the population that a handle leads to, copied, so that nothing of it stays open."""
    memory = SharedMemory(name=handle.name)
    try:
        arrays = {
            part: _view(memory, shape, kind, place).copy()
            for part, shape, kind, place in handle.parts
        }
    finally:
        memory.close()
    return NotionalPopulation(**arrays)


def _view(memory: SharedMemory, shape: tuple[int, ...], kind: str, place: int) -> Any:
    return np.ndarray(shape, dtype=kind, buffer=memory.buf, offset=place)
