"""Blocks of work done by the workers of a cluster.

The shared arrays are written once to the scratch folder, from where every worker maps them into its
memory; tasks and outcomes go the same way. So nothing large passes through Spark, outcomes come as
soon as they are there, and which are there tells how far the work is.
"""

# Spark is an extra, and types are checked where it is not installed too.
# pyright: reportMissingImports=false
from __future__ import annotations

import json
import pickle
import time
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.format import write_array

from gamekeeper.algorithms.blocks import Kernel, Outcome, Shared, State, Task
from gamekeeper.data.engine.spark import probing, working
from gamekeeper.data.engine.spark.calls import Address, failure_of, run_discreetly, text_of
from gamekeeper.data.engine.spark.files import Call, Lifeline, run_call
from gamekeeper.data.engine.spark.session import remove_folder
from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.files import make_folder, put_file, remove
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

_POLL_SECONDS: Final = 0.02
_LOOK_SECONDS: Final = 0.5
# A file of another machine may take so long to be seen on a file system that is shared.
_SEEN_SECONDS: Final = 60.0
_PROBES: Final = 8
_ASKED: Final = "Work was to be done by workers of a cluster."
_NO_PYTHON: Final = (
    "python_version_mismatch", "cannot run program", "modulenotfounderror", "no module named",
    "importerror", "package_not_installed", "unsupported_package_version",
)  # fmt: skip


def check_workers(session: Any, address: Address) -> None:
    """Refuse workers that have other versions than this machine; every task looks again."""
    from pyspark import cloudpickle

    def ask() -> Any:
        cloudpickle.register_pickle_by_value(probing)
        try:
            told = partial(probing.tell_versions, probing.PACKAGES)
            return (
                session.range(0, _PROBES, 1, _PROBES).mapInArrow(told, "versions STRING").toArrow()
            )
        finally:
            cloudpickle.unregister_pickle_by_value(probing)

    def asked() -> Any:
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - what it says is not shown
            text = text_of(error)
            failure = failure_of(error, _ASKED)
        raise _no_python() if any(sign in text for sign in _NO_PYTHON) else failure

    found = run_call(session, asked, _ASKED, address).column(0).to_pylist()
    here = probing.versions_here(probing.PACKAGES)
    others = [told for text in dict.fromkeys(found) if (told := json.loads(text)) != here]
    if others:
        raise _other_versions(others, here)


def map_by_workers(
    session: Any,
    address: Address,
    folder: Path,
    kernel: Kernel[State, Task, Outcome],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    progress: Progress | None = None,
) -> Generator[Outcome]:
    """Yield the outcome of every task, in the order of tasks; see `Engine.map_blocks`."""
    here = probing.versions_here(probing.PACKAGES)
    call: Call[Any] | None = None
    try:
        _write_work(folder, kernel, shared, tasks)
        work = partial(working.do_tasks, str(folder), here)

        def do() -> Any:
            numbers = session.range(0, len(tasks), 1, len(tasks))
            return numbers.mapInArrow(work, "id BIGINT").toArrow().num_rows

        call, lifeline = Call(session, do), Lifeline(address)
        for number in range(len(tasks)):
            path = working.outcome_file(folder, number)
            _wait_for(path, call, lifeline, number, len(tasks), progress)
            kind, outcome = pickle.loads(path.read_bytes())  # noqa: S301 - our own
            if kind == working.OTHER_VERSIONS:
                raise _other_versions([outcome], here)
            if kind != working.DONE:
                raise outcome
            remove(path)
            if progress is not None:
                progress(number + 1, len(tasks))
            yield outcome
    finally:
        if call is not None and not call.wait(0):
            call.stop()
        remove_folder(folder)


def _write_work(
    folder: Path, kernel: Kernel[Any, Any, Any], shared: Shared, tasks: Sequence[Any]
) -> None:
    try:
        packed = pickle.dumps((list(shared), kernel))
        own = [pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL) for task in tasks]
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            "Something that was given, such as a measure, cannot be handed to a worker.",
            "Define it at the top of a module that workers have as well, or use another engine.",
        ) from error

    def write() -> None:
        make_folder(folder)
        for number, array in enumerate(shared.values()):
            whole = np.ascontiguousarray(array)
            put_file(
                working.array_file(folder, number),
                partial(write_array, array=whole, allow_pickle=False),
            )
        for number, task in enumerate(own):
            put_file(working.task_file(folder, number), task)
        put_file(folder / working.KERNEL, packed)

    run_discreetly(write, _ASKED)


def _wait_for(
    path: Path,
    call: Call[Any],
    lifeline: Lifeline,
    n_taken: int,
    n_tasks: int,
    progress: Progress | None,
) -> None:
    looked = time.monotonic()
    while not path.exists():
        if call.wait(_POLL_SECONDS):
            run_discreetly(call.result, _ASKED)
            _wait_to_see(path)
            return
        lifeline.check(_ASKED)
        if progress is not None and time.monotonic() - looked >= _LOOK_SECONDS:
            there = sum(1 for _ in path.parent.glob("outcome-*"))
            progress(min(n_tasks, n_taken + there), n_tasks)
            looked = time.monotonic()


def _wait_to_see(path: Path) -> None:
    until = time.monotonic() + _SEEN_SECONDS
    while not path.exists():
        if time.monotonic() > until:
            raise StoreError(
                Reason.NOT_WRITABLE,
                _ASKED,
                "A worker wrote what came of its work where this machine does not see it.",
                "Name a folder that this machine and all workers see under the same path (GAMEKEEPER_SCRATCH).",
            )
        time.sleep(_LOOK_SECONDS)


def _no_python() -> InputError:
    versions = probing.versions_here(probing.PACKAGES)
    wanted = ", ".join(f"{name} {version}" for name, version in versions.items())
    return InputError(
        Reason.MISSING_PACKAGE,
        _ASKED,
        "Workers have no Python, another one, or not what Gamekeeper needs.",
        f"Install on every worker what is here ({wanted}), and name its Python there (environment variable"
        " PYSPARK_PYTHON).",
    )


def _other_versions(others: Sequence[Mapping[str, str]], here: Mapping[str, str]) -> InputError:
    problems = [
        Problem(
            Reason.MISSING_PACKAGE, name, f"{' and '.join(sorted(found))} there, {here[name]} here."
        )
        for name in here
        if (found := {told.get(name) or "none" for told in others} - {here[name]})
    ]
    return InputError(
        Reason.MISSING_PACKAGE,
        _ASKED,
        f"Workers have other versions of {count_of(len(problems), 'package')} than this machine.",
        "Install the same versions everywhere, or name another Python of the workers (environment variable"
        " PYSPARK_PYTHON).",
        problems=problems,
    )
