"""What a worker does: tasks out of the scratch folder, outcomes into it.

A task is done once or, where a worker is lost in the middle, again; what comes out is the same, so
that the later one may take the place of the earlier. Outcomes are there whole or not at all.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from gamekeeper.data.engine.spark.probing import PACKAGES, versions_here
from gamekeeper.files import put_file

KERNEL: Final = "kernel"
DONE: Final = "done"
RAISED: Final = "raised"
OTHER_VERSIONS: Final = "other versions"

_held: list[tuple[str, Callable[[Any, Any], Any], Any]] = []


def task_file(folder: Path, number: int) -> Path:
    """Return where a task lies."""
    return folder / f"task-{number}"


def outcome_file(folder: Path, number: int) -> Path:
    """Return where what came of a task lies."""
    return folder / f"outcome-{number}"


def array_file(folder: Path, number: int) -> Path:
    """Return where one of the shared arrays lies."""
    return folder / f"shared-{number}.npy"


def do_tasks(place: str, versions: dict[str, str], batches: Iterator[Any]) -> Iterator[Any]:
    """Do the tasks whose numbers come, and yield the numbers."""
    folder = Path(place)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            put_file(outcome_file(folder, number), _outcome(folder, versions, number))
        yield batch


def _outcome(folder: Path, versions: dict[str, str], number: int) -> bytes:
    here = versions_here(PACKAGES)
    if here != versions:
        return pickle.dumps((OTHER_VERSIONS, here))
    try:
        work, state = _prepared(folder)
        task = pickle.loads(task_file(folder, number).read_bytes())  # noqa: S301 - our own
        return pickle.dumps((DONE, work(state, task)), protocol=pickle.HIGHEST_PROTOCOL)
    except OSError:
        raise  # the disk, not the work
    except Exception as error:  # noqa: BLE001 - whoever waits for the outcome gets it
        return _raised(error)


def _prepared(folder: Path) -> tuple[Callable[[Any, Any], Any], Any]:
    """Return the work and what it needs; arrays are mapped into memory, and prepared once."""
    if not _held or _held[0][0] != folder.name:
        names, kernel = pickle.loads((folder / KERNEL).read_bytes())  # noqa: S301 - our own
        # Copied on writing, so that kernels that are compiled for arrays of this process take them.
        shared = {
            name: np.asarray(np.load(array_file(folder, number), mmap_mode="c"))
            for number, name in enumerate(names)
        }
        _held[:] = [(folder.name, kernel.work, kernel.prepare(shared))]
    return _held[0][1:]


def _raised(error: Exception) -> bytes:
    error.__cause__ = error.__context__ = error.__traceback__ = None
    try:
        made = pickle.dumps((RAISED, error))
        pickle.loads(made)  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - an error that cannot be sent
        return pickle.dumps((RAISED, RuntimeError(f"A task failed ({type(error).__name__}).")))
    return made
