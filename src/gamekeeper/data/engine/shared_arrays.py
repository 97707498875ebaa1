"""Arrays handed to worker processes through shared memory.

Handing them over as arguments would be simpler, but a process that dies while it starts leaves the
parent writing into a pipe that nobody reads, for ever. A handle fits into the pipe as a whole.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from gamekeeper.algorithms.blocks import Shared


@dataclass(frozen=True, slots=True)
class ArraysHandle:
    """Where arrays lie: the name of the memory, and name, shape, type and place of each."""

    name: str
    parts: tuple[tuple[str, tuple[int, ...], str, int], ...]


@contextmanager
def lent(shared: Shared) -> Generator[ArraysHandle]:
    """Put arrays into shared memory as long as the context lasts."""
    arrays = {name: np.ascontiguousarray(array) for name, array in shared.items()}
    places: dict[str, int] = {}
    size = 0
    for name, array in arrays.items():
        places[name] = size
        size += -(-array.nbytes // 8) * 8
    memory = SharedMemory(create=True, size=max(size, 1))
    try:
        for name, array in arrays.items():
            _view(memory, array.shape, array.dtype.str, places[name])[...] = array
        yield ArraysHandle(
            memory.name,
            tuple((name, a.shape, a.dtype.str, places[name]) for name, a in arrays.items()),
        )
    finally:
        memory.close()
        memory.unlink()


def received(handle: ArraysHandle) -> dict[str, Any]:
    """Return the arrays that a handle leads to, copied, so that nothing of them stays open."""
    memory = SharedMemory(name=handle.name)
    try:
        return {
            name: _view(memory, shape, kind, place).copy()
            for name, shape, kind, place in handle.parts
        }
    finally:
        memory.close()


def _view(memory: SharedMemory, shape: tuple[int, ...], kind: str, place: int) -> Any:
    return np.ndarray(shape, dtype=kind, buffer=memory.buf, offset=place)
