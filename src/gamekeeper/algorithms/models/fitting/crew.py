"""Compiled walks in threads that can be watched and stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from gamekeeper.budget import workers_of
from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress

_LOOK_EVERY = 0.2


def random_states(seed: int, n: int, stage: int = 0) -> list[NDArray[np.uint64]]:
    """Return the states of n independent random generators, the same for the same seed."""
    children = np.random.SeedSequence([seed, stage]).spawn(n)
    return [child.generate_state(4, np.uint64).astype(np.uint64) for child in children]


def run_walks(
    work: Callable[[int], None],
    clocks: Sequence[NDArray[np.int64]],
    *,
    workers: int | None,
    progress: Progress | None,
    total: int,
) -> Cancelled | None:
    """Do the work of each walk, and tell progress how many steps their clocks show together.

    If progress raises `Cancelled` the walks are told to stop by their clocks, and it is returned
    once they have.
    """
    n_workers = workers_of(workers, len(clocks))
    cancelled: Cancelled | None = None
    with ThreadPoolExecutor(n_workers) as executor:
        pending = {executor.submit(work, number) for number in range(len(clocks))}
        try:
            while pending:
                finished, pending = wait(
                    pending, timeout=_LOOK_EVERY if progress is not None else None
                )
                if progress is not None and cancelled is None:
                    try:
                        progress(min(sum(int(clock[0]) for clock in clocks), total), total)
                    except Cancelled as error:
                        cancelled = error
                        _stop(clocks)
                for future in finished:
                    future.result()
        except BaseException:
            _stop(clocks)
            raise
    return cancelled


def _stop(clocks: Sequence[NDArray[np.int64]]) -> None:
    for clock in clocks:
        clock[2] = 1
