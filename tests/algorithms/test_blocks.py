"""Work handed to threads: order, progress, looking, stopping, and what is raised."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

from gamekeeper.algorithms.blocks import Kernel, in_threads, map_blocks
from gamekeeper.errors import Cancelled

WORKERS = (1, 3)


def halves(task):
    # The later a task, the sooner it is done.
    threading.Event().wait(0.01 / (task + 1))
    return task / 2


@pytest.mark.parametrize("workers", WORKERS)
def test_outcomes_come_in_the_order_of_tasks(workers):
    told = []
    found = list(
        in_threads(halves, range(20), workers, progress=lambda *given: told.append(given))
    )  # fmt: skip
    assert found == [task / 2 for task in range(20)]
    assert told == [(done, 20) for done in range(1, 21)]
    assert list(in_threads(halves, [], workers)) == []


def test_never_by_the_thread_of_the_caller():
    found = set(in_threads(lambda _: threading.get_ident(), range(5), 2))
    assert threading.get_ident() not in found


@pytest.mark.parametrize("workers", WORKERS)
def test_who_looks_may_end_it_and_what_has_begun_is_told_to_stop(workers):
    stopped, begun = threading.Event(), []

    def work(task):
        begun.append(task)
        assert stopped.wait(30)

    def look():
        raise Cancelled("Waiting")

    with pytest.raises(Cancelled):
        list(in_threads(work, range(100), workers, look=look, stop=stopped.set))
    assert len(begun) <= 2 * workers


def test_looking_does_not_disturb():
    looked = []
    slow = threading.Event()
    found = list(
        in_threads(
            lambda task: slow.wait(0.25) or task, range(2), 1, look=lambda: looked.append(1)
        )
    )  # fmt: skip
    assert found == [0, 1]
    assert looked


@pytest.mark.parametrize("workers", WORKERS)
def test_what_progress_or_work_raise_ends_the_rest(workers):
    begun, stops = [], []

    def work(task):
        begun.append(task)
        if task == 2:
            raise ZeroDivisionError
        return task

    def progress(done, _):
        if done == 1:
            raise Cancelled("Working")

    with pytest.raises(ZeroDivisionError):
        list(in_threads(work, range(100), workers, stop=lambda: stops.append(1)))
    assert len(begun) <= 3 + 2 * workers
    with pytest.raises(Cancelled):
        list(in_threads(work, range(100), workers, progress=progress))
    # Closing is an end as well.
    some = in_threads(work, range(100), workers, stop=lambda: stops.append(1))
    assert next(some) == 0
    some.close()
    assert stops == [1, 1]


def _shifted(by, shared):
    return shared["numbers"] + by


def _total(numbers, block):
    return int(numbers[block].sum())


@pytest.mark.parametrize("workers", WORKERS)
def test_blocks_get_what_was_prepared(workers):
    numbers = np.arange(30)
    tasks = [slice(start, start + 7) for start in range(0, 30, 7)]
    found = map_blocks(
        Kernel(partial(_shifted, 1), _total), {"numbers": numbers}, tasks, workers=workers
    )  # fmt: skip
    assert list(found) == [int((numbers[task] + 1).sum()) for task in tasks]
