"""What work may use of the machine: bytes of memory, threads and processes.

Whoever is about to make something large estimates its bytes and asks here before the work begins.
Held against it is what was allowed (`within_memory`, at the prompt `--memory`), else nine tenths of
the memory that is free: to this machine, to the control groups that the process is in (containers,
batch systems), and to the process itself (`ulimit -v`). Where a system does not tell, there is no
limit but one that is given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum, unique
from pathlib import Path

from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import memory_text, quoted

_UNITS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?) ?(?:([kmgt]?)(i?)b?)", re.IGNORECASE)
# The rest is for what nobody estimates: libraries, the page cache, others on the machine.
_USED = 9 / 10
_PER_CORE = 2


@unique
class Work(Enum):
    """What is done with a file, by the bytes it takes at least: per record, and per cell of a key.

    They were measured with half a million to two million records, few of which are different. What
    is counted by an engine spills to disk; a look has the codes of one column at a time.
    """

    LOOK = (14, 0)
    COUNTING = (6, 0)
    LINKING = (8, 4)
    MATCHING = (17, 4)
    FITTING = (47, 4)
    POPULATION = (50, 4)
    SPECIAL = (77, 4)
    MEASURES = (109, 4)
    UNIQUES = (130, 4)
    INFERENCE = (190, 4)
    ASSESSMENT = (419, 4)
    # Keys of people and of rows take eight bytes each; a million with nine keys took 2 GB in all.
    PROTECTION = (100, 16)

    def least_bytes(self, n_records: int, n_columns: int) -> int:
        """Return the bytes that it takes at least.

        >>> Work.LINKING.least_bytes(1_000, 3)
        20000
        """
        per_record, per_cell = self.value
        return n_records * (per_record + per_cell * n_columns)


_allowed: ContextVar[int | None] = ContextVar("allowed", default=None)


@contextmanager
def within_memory(allowed: str | int | None) -> Generator[None]:
    """Hold all work to so many bytes, whatever is free; None changes nothing.

    They are a number, or a text such as "4GB", "500 MB" or "1.5GiB".

    Examples
    --------
    >>> with within_memory("2GB"):
    ...     memory_budget()
    2000000000
    """
    if allowed is None:
        yield
        return
    token = _allowed.set(bytes_of(allowed))
    try:
        yield
    finally:
        _allowed.reset(token)


def memory_budget() -> int | None:
    """Return how many bytes work may take: what was allowed, or nine tenths of what is free."""
    allowed = _allowed.get()
    if allowed is not None:
        return allowed
    free = free_memory()
    return None if free is None else int(free * _USED)


def is_memory_given() -> bool:
    """Tell whether so much was allowed, and not taken from what is free."""
    return _allowed.get() is not None


def require_memory(asked: str, n_bytes: float, what: str, do: str) -> None:
    """Refuse work that would take more bytes (`n_bytes`, an estimate) than it may.

    - `asked`: the first sentence of the error, what was asked.
    - `what`: what takes the memory, as the beginning of a sentence: "1,000 tables of 20 cells".
    - `do`: the ways around, as a sentence without its full stop.
    """
    budget = memory_budget()
    if budget is None or n_bytes <= budget:
        return
    is_given = is_memory_given()
    there = f"{memory_text(budget)} {'are allowed' if is_given else 'may be used of what is free'}"
    raise LimitError(
        Reason.TOO_LARGE,
        asked,
        f"{what} would take about {memory_text(n_bytes)} of memory, and {there}.",
        f"{do}, or allow more (--memory; within_memory in Python).",
    )


def fits(n_bytes: float) -> bool:
    """Tell whether so many bytes may be taken."""
    budget = memory_budget()
    return budget is None or n_bytes <= budget


def bytes_of(amount: str | int) -> int:
    """Return an amount of memory in bytes.

    >>> bytes_of("1.5 GB"), bytes_of("1GiB"), bytes_of("200m"), bytes_of(10)
    (1500000000, 1073741824, 200000000, 10)
    """
    met = _AMOUNT.fullmatch(str(amount).strip())
    if met is None or float(met[1]) == 0:
        raise InputError(
            Reason.BAD_OPTION,
            f"An amount of memory was given as {quoted([str(amount)])}.",
            "It cannot be read.",
            "Give a number with its unit, such as 4GB or 500MB.",
        )
    base = 1024 if met[3] else 1000
    return max(1, int(float(met[1]) * base ** _UNITS[met[2].lower()]))


def workers_of(asked: int | None, most: int | None = None) -> int:
    """Return how many threads or processes to use: one per core, at most two where more are asked for.

    `most` is how many there is work for.
    """
    cores = os.cpu_count() or 1
    wanted = min(asked, _PER_CORE * cores) if asked else cores
    return max(1, wanted if most is None else min(wanted, most))


def free_memory() -> int | None:
    """Return the bytes that are free to this process; None where the system does not tell."""
    told = [room for room in (*_machine(), *_groups(), *_process()) if room is not None]
    return max(0, min(told)) if told else None


def _machine() -> Iterator[int | None]:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
            return
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names:
        # What is in use is not told here; half of all is a guess on the safe side.
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _groups() -> Iterator[int | None]:
    """Yield what the control groups of the process have left, of both versions."""
    for line in _lines(Path("/proc/self/cgroup")):
        _, kinds, path = line.split(":", 2)
        if kinds == "":
            root, names = Path("/sys/fs/cgroup"), ("memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            root = Path("/sys/fs/cgroup/memory")
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        own = root / path.lstrip("/")
        for group in (own, *own.parents):
            if group == root.parent:
                break
            yield group_room(group, *names)


def group_room(group: Path, limit: str, usage: str, cached: str) -> int | None:
    """Return what a control group has left; None where it has no limit or does not tell."""
    most, used = (_number(group / name) for name in (limit, usage))
    if most is None or used is None:
        return None
    # Pages of files that nobody uses are given back when they are asked for.
    kept = [line.split() for line in _lines(group / "memory.stat")]
    idle = next((int(words[1]) for words in kept if words[:1] == [cached]), 0)
    return most - max(0, used - idle)


def _process() -> Iterator[int | None]:
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = next(iter(_lines(Path("/proc/self/statm"))), "")
    if most != resource.RLIM_INFINITY:
        yield most - (int(used.split()[0]) * resource.getpagesize() if used else 0)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _number(path: Path) -> int | None:
    text = next(iter(_lines(path)), "").strip()
    return int(text) if text.isdigit() else None
