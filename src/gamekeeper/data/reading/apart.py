"""Files of others, read in a process of its own, within limits of memory and time.

What such a file says of itself is not believed: two cells may span a sheet of seventeen thousand million,
and the libraries that read it end the process rather than refuse. So a function of ours reads it in
a process that may take so much and no more, and writes what it found to whoever asked: an Arrow
stream of columns, or JSON. Never pickles, which could run what a file put there. Errors of ours come
back as they are; of all others only the place is told, because their texts may hold values.

What is allowed grows with the size of the file on disk, the one thing that it cannot lie about, up
to the budget of memory; where a budget was given (`--memory`), it is what is allowed. A system
without such limits (Windows) ends nothing by itself, but what breaks down there breaks down alone.
"""

from __future__ import annotations

import errno
import io
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from gamekeeper import errors
from gamekeeper.budget import is_memory_given, memory_budget
from gamekeeper.errors import GamekeeperError, InputError, LimitError, Problem, Reason, fault_place
from gamekeeper.files import files_read, one_run, remember
from gamekeeper.wording import count_of, memory_text

_LEAST_BYTES, _BYTES_PER_BYTE = 1 << 30, 60
# Below that libraries read nothing at all.
_FLOOR = 1 << 26
_LEAST_SECONDS, _SECONDS_PER_MEGABYTE = 60, 5
# Seconds of a clock that are waited for each second of work that is allowed.
_PATIENCE = 5
_TOO_LARGE = "memory"
# One thread, and no more address space than is used: it is what the limit counts.
_SMALL = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_CODE = (
    "import json, sys; asked = json.loads(sys.stdin.buffer.read()); sys.path[:] = asked['path'];"
    f" from {__name__} import work; work(asked)"
)

Writer = Callable[..., None]
"""Reads a file and writes what it found: called with an open file, and what it was given besides."""


@contextmanager
def apart(
    write: Writer, *given: Any, path: Path, asked: str, do: str, libraries: Sequence[str] = ()
) -> Generator[io.BufferedReader[Any]]:
    """Have a function read a file in a process of its own, and give what it writes, as it comes.

    - `write`: a function of a module, which is found there by its name.
    - `given`: what it is called with, besides the file to write to: what JSON can hold.
    - `path`: the file that is read, by whose size the limits are.
    - `asked`, `do`: the first and the last sentence of an error: what was asked, and the way around.
    - `libraries`: what it imports: loaded before the limit of memory begins to count.
    - raises `GamekeeperError`: as the function does; or because it took too much, or broke down.
    """
    memory, seconds = limits_for(path)
    request = {
        "path": [part for part in sys.path if part],
        "function": f"{write.__module__}:{write.__qualname__}",
        "libraries": list(libraries),
        "given": given,
        "memory": memory,
        "seconds": seconds,
    }
    process = subprocess.Popen(  # noqa: S603 - our own module; what is asked is no part of the command
        [sys.executable, "-P", "-c", _CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, **_SMALL},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    told = _Told(process, memory, seconds, asked, do)
    try:
        with suppress(BrokenPipeError), process.stdin as sending:
            sending.write(json.dumps(request).encode())
        with io.BufferedReader(told) as reading:
            yield reading
            # What was not asked for is read as well, so that what went wrong late is told.
            while reading.read(1 << 16):
                pass
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def plain_of(
    write: Writer, *given: Any, path: Path, asked: str, do: str, libraries: Sequence[str] = ()
) -> Any:
    """Return what a function writes as JSON (`send_plain`) in a process of its own: see `apart`."""
    most = limits_for(path)[0] // _MOST_PLAIN
    with apart(write, *given, path=path, asked=asked, do=do, libraries=libraries) as told:
        text = told.read(most + 1)
        if len(text) > most:
            found = f"What is in it comes to more than {memory_text(most)}."
            raise LimitError(Reason.TOO_LARGE, asked, found, do)
        return json.loads(text)


# Words of a file take several times as much here as they do on their way.
_MOST_PLAIN = 16


def send_plain(out: BinaryIO, tree: Any) -> None:
    """Write plain values for `plain_of`."""
    out.write(json.dumps(tree).encode())


def limits_for(path: Path) -> tuple[int, int]:
    """Return how many bytes of memory and seconds of work a file of its size may take."""
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # the one who reads it says what is wrong
    memory, budget = _LEAST_BYTES + _BYTES_PER_BYTE * size, memory_budget()
    if budget is not None:
        memory = max(_FLOOR, budget if is_memory_given() else min(memory, budget))
    return memory, _LEAST_SECONDS + _SECONDS_PER_MEGABYTE * size // 1_000_000


class _Told(io.RawIOBase):
    """What a process writes; at its end, how it ended.

    Time counts while somebody waits for the process, not while it waits for whoever reads.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], memory: int, seconds: int, asked: str, do: str
    ) -> None:
        self._process = process
        self._memory, self._seconds = memory, seconds
        self._asked, self._do = asked, do
        self._left = float(_PATIENCE * seconds)
        self._is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._is_over:
            return 0
        out = self._process.stdout
        assert out is not None
        self._wait_for(out)
        data = os.read(out.fileno(), min(len(buffer), 1 << 20))
        buffer[: len(data)] = data
        if not data:
            self._is_over = True
            self._judge()
        return len(data)

    def _wait_for(self, out: Any) -> None:
        if os.name != "posix":
            return  # pipes cannot be waited for with a limit
        with selectors.DefaultSelector() as waiting:
            waiting.register(out, selectors.EVENT_READ)
            since = time.monotonic()
            is_there = waiting.select(self._left)
            self._left = max(0.0, self._left - (time.monotonic() - since))
        if not is_there:
            raise self._too_long()

    def _judge(self) -> None:
        assert self._process.stderr is not None
        said = self._process.stderr.read()
        try:
            code = self._process.wait(self._left)
        except subprocess.TimeoutExpired:
            raise self._too_long() from None
        if said:
            end = json.loads(said)
            remember(end["read"])
            if end["fault"] is not None:
                raise self._error(end["fault"])
            return
        if os.name == "posix" and -code == signal.SIGXCPU:
            raise self._too_long()
        # Libraries that get no memory end the process, each in its own way.
        raise self._refused(
            Reason.TOO_LARGE,
            f"What reads such files broke down: it needs more than {memory_text(self._memory)} of"
            " memory, or the file is damaged.",
        )

    def _error(self, fault: Mapping[str, Any]) -> GamekeeperError:
        kind = fault["kind"]
        if kind == _TOO_LARGE:
            return self._refused(
                Reason.TOO_LARGE,
                f"To read it takes more than {memory_text(self._memory)} of memory.",
            )
        if kind not in ("InputError", "LimitError"):
            return InputError(
                Reason.MALFORMED,
                self._asked,
                f"It cannot be read, or is damaged ({fault['place']}).",
                self._do,
            )
        made: type[GamekeeperError] = getattr(errors, kind)
        return made(
            Reason(fault["reason"]),
            fault["asked"],
            fault["found"],
            fault["do"],
            problems=[Problem(Reason(reason), *words) for reason, *words in fault["problems"]],
        )

    def _too_long(self) -> LimitError:
        return self._refused(
            Reason.TOO_LARGE, f"To read it takes more than {count_of(self._seconds, 'second')}."
        )

    def _refused(self, reason: Reason, found: str) -> LimitError:
        return LimitError(reason, self._asked, found, self._do)


def work(asked: Mapping[str, Any]) -> None:
    """Do what was asked, in the process that was started for it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What libraries print may hold values: it goes nowhere.
    out, ended = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(2), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    fault: dict[str, Any] | None = None
    read: list[tuple[int, int]] = []
    try:
        module, name = asked["function"].split(":")
        write = getattr(import_module(module), name)
        for library in asked["libraries"]:
            import_module(library)
        _limit(asked["memory"], asked["seconds"])
        with one_run():
            try:
                write(out, *asked["given"])
            finally:
                read = files_read()
        out.flush()
    except GamekeeperError as error:
        fault = {
            "kind": type(error).__name__,
            "reason": error.reason,
            "asked": error.asked,
            "found": error.found,
            "do": error.do,
            "problems": [(p.reason, p.where, p.found, p.do) for p in error.problems],
        }
    except BaseException as error:  # noqa: BLE001 - also those that libraries make of their breakdowns
        is_memory = isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
        place = f"{type(error).__name__} in {fault_place(error)}"
        fault = {"kind": _TOO_LARGE if is_memory else "", "place": place}
    # Who reads sees the end of what was found, and then how it ended.
    with suppress(OSError):
        out.close()
        ended.write(json.dumps({"fault": fault, "read": read}))
        ended.flush()
    # What a library has left to tidy up is not waited for.
    os._exit(0)


def _limit(memory: int, seconds: int) -> None:
    """Let this process take so much more memory and work, write no file, and leave no picture of itself."""
    with suppress(OSError):
        # Where memory runs short in spite of all, the system takes this process first.
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    taken = 0
    with suppress(OSError):
        pages = Path("/proc/self/statm").read_text().split()[0]
        taken = int(pages) * resource.getpagesize()
    spent = int(time.process_time()) + 1
    for kind, most in (
        (resource.RLIMIT_AS, taken + memory),
        (resource.RLIMIT_CPU, spent + seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (least, hard))
