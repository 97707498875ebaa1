"""Samples that are left to be drawn, where those of an earlier run may be kept in a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from gamekeeper.attack.simulation.running import SampleTask
from gamekeeper.results import Progress

_Found = TypeVar("_Found")


class Kept(Protocol[_Found]):
    """Where outcomes are kept, by the number of a sample and its fraction."""

    def read(self, number: int, fraction: str, /) -> _Found | None:
        """Return an outcome that is kept, if so."""
        ...

    def write(self, number: int, fraction: str, outcome: _Found, /) -> None:
        """Keep an outcome."""
        ...


def run_left(
    tasks: Sequence[SampleTask],
    kept: Kept[_Found] | None,
    progress: Progress | None,
    run: Callable[[Sequence[SampleTask], Callable[[SampleTask, _Found], None]], None],
) -> dict[int, _Found]:
    """Return the outcome of every task by its number; `run` is given those that are not kept."""
    found: dict[int, _Found] = {}
    if kept is not None:
        for task in tasks:
            outcome = kept.read(task.number, str(task.fraction))
            if outcome is not None:
                found[task.number] = outcome

    def tell() -> None:
        if progress is not None:
            progress(len(found), len(tasks))

    def finish(task: SampleTask, outcome: _Found) -> None:
        found[task.number] = outcome
        if kept is not None:
            kept.write(task.number, str(task.fraction), outcome)
        tell()

    tell()
    run([task for task in tasks if task.number not in found], finish)
    return found
