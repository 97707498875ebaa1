"""One call to Spark after another: watched, told of, and stopped when whoever waits is."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from gamekeeper.data.engine.spark.address import Address
from gamekeeper.data.engine.spark.faults import lost, run_discreetly
from gamekeeper.data.engine.spark.session import is_classic, is_reachable
from gamekeeper.data.engine.spark.threads import in_thread
from gamekeeper.results import Progress

T = TypeVar("T")

_POLL_SECONDS: Final = 0.05
_ASK_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 20.0
_LIFE_SECONDS: Final = 10.0
_MISSED: Final = 3


class Call(Generic[T]):
    """Some work with Spark, under a tag of its own, by which it is found and stopped."""

    def __init__(self, session: Any, work: Callable[[], T]) -> None:
        self._session = session
        self._classic = is_classic(session)
        self._tag = f"gamekeeper-{secrets.token_hex(8)}"
        self._work = work
        self._asked_at = time.monotonic()
        self._asking: Future[int] | None = None
        self._percent = 0
        self._future = in_thread(self._tagged)

    def wait(self, seconds: float) -> bool:
        """Wait so long, and tell whether it has ended."""
        return not wait([self._future], seconds).not_done

    def result(self) -> T:
        """Return what came of it, or raise what it raised."""
        return self._future.result()

    def percent(self) -> int:
        """Return how much of it is done, of what is known of so far; it never goes back."""
        if self._asking is not None and self._asking.done():
            with suppress(Exception):
                self._percent = max(self._percent, self._asking.result())
            self._asking = None
        due = time.monotonic() - self._asked_at >= _ASK_SECONDS
        if self._classic and self._asking is None and due:
            self._asked_at = time.monotonic()
            self._asking = in_thread(self._look)
        return self._percent

    def stop(self) -> None:
        """Have Spark stop it, and wait a little until it has."""
        until = time.monotonic() + _STOP_SECONDS
        while not self._future.done() and time.monotonic() < until:
            # Again and again: what has not begun yet, or goes on in a next step, is not stopped.
            wait([in_thread(self._cancel)], _STOP_SECONDS)
            wait([self._future], _ASK_SECONDS)

    def _tagged(self) -> T:
        if self._classic:
            self._session.sparkContext.setJobGroup(self._tag, "", False)
            return self._work()
        self._session.addTag(self._tag)
        try:
            return self._work()
        finally:
            self._session.removeTag(self._tag)

    def _cancel(self) -> None:
        if self._classic:
            self._session.sparkContext.cancelJobGroup(self._tag)
        else:
            self._session.interruptTag(self._tag)

    def _look(self) -> int:
        tracker = self._session.sparkContext.statusTracker()
        done = whole = 0
        for job in tracker.getJobIdsForGroup(self._tag):
            known = tracker.getJobInfo(job)
            for number in known.stageIds if known else ():
                stage = tracker.getStageInfo(number)
                if stage is not None:
                    done += stage.numCompletedTasks
                    whole += stage.numTasks
        return min(99, 100 * done // whole) if whole else 0


class Lifeline:
    """Whether the cluster is still there: Spark itself may wait for ever for one that is gone."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._looked = time.monotonic()
        self._looking: Future[bool] | None = None
        self._n_missed = 0

    def check(self, asked: str) -> None:
        """Refuse to wait any longer where nobody answered for some time."""
        if not self._address.places:
            return
        if self._looking is not None and self._looking.done():
            self._n_missed = 0 if self._looking.result() else self._n_missed + 1
            self._looking = None
        if self._n_missed >= _MISSED:
            raise lost(asked)
        if self._looking is None and time.monotonic() - self._looked >= _LIFE_SECONDS:
            self._looked = time.monotonic()
            self._looking = in_thread(lambda: is_reachable(self._address))


def run_call(
    session: Any,
    work: Callable[[], T],
    asked: str,
    address: Address,
    *,
    reading: bool = False,
    progress: Progress | None = None,
) -> T:
    """Do some work with Spark and return its result; `progress` is told percents, and may cancel."""
    call, lifeline = Call(session, work), Lifeline(address)
    try:
        while not call.wait(_POLL_SECONDS if progress else 1.0):
            lifeline.check(asked)
            if progress is not None:
                progress(call.percent(), 100)
    except BaseException:
        call.stop()
        raise
    return run_discreetly(call.result, asked, reading=reading)
