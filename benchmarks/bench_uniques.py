"""Minimal sample uniques: how cost grows with records and variables, for weak and strong dependence.

With GAMEKEEPER_DATA set to a folder that has adult/adult_arx.csv, that census extract is measured
too. The kernels are compiled before anything is timed. Searches are by one thread, the best of three
runs. Aims in seconds are the published CPU seconds of the C++ reference, on another day and the same
kind of machine, over how many times faster the search is to be; those of 73,489 and 20,000 records
are of other files with about as many MSUs. `python -m benchmarks.bench_uniques 73489 12` measures
the memory of the process beyond what it had before, without the list and with it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques, find_minimal_uniques

__all__ = ["rows"]

LEVELS = (100, 36, 4, 4, 8, 13, 6, 6, 6, 6, 6, 6, 5, 5, 4, 4)


def weakly_dependent(n_records: int, n_variables: int, seed: int = 1) -> NDArray[np.uint8]:
    """Many levels, skewed, nearly independent: nearly every record is unique in many ways."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal(n_records)
    columns: list[NDArray[np.int64]] = []
    for n_levels in LEVELS[:n_variables]:
        mixed = 0.2 * common + rng.standard_normal(n_records)
        shares = np.sort(rng.dirichlet(np.full(n_levels, 0.7)))[::-1]
        ranks = np.argsort(np.argsort(mixed)) / n_records
        columns.append(1 + np.searchsorted(np.cumsum(shares)[:-1], ranks, side="right"))
    return np.stack(columns, axis=1).astype(np.uint8)


def strongly_dependent(n_records: int, n_variables: int, seed: int = 1) -> NDArray[np.uint8]:
    """Copies of a few causes with some noise, as the questions of one survey."""
    rng = np.random.default_rng(seed)
    causes = np.stack([rng.integers(0, most, n_records) for most in (90, 30, 12, 6, 4)], axis=1)
    columns: list[NDArray[np.int64]] = []
    for number in range(n_variables):
        cause = causes[:, number % 5]
        width = 1 + number // 5 * 2
        noise = rng.random(n_records) < 0.03
        columns.append(1 + np.where(noise, rng.integers(0, 3, n_records), cause // width))
    return np.stack(columns, axis=1).astype(np.uint8)


def naive(codes: NDArray[np.uint8]) -> int:
    """Count minimal sample uniques by sorting the file on every subset of the variables."""
    n_records, n_variables = codes.shape
    wide = codes.astype(np.uint64)
    unique_on: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    n_msus = 0
    for size in range(1, n_variables + 1):
        for chosen in combinations(range(n_variables), size):
            key = np.zeros(n_records, dtype=np.uint64)
            for variable in chosen:
                key = key * np.uint64(256) + wide[:, variable]
            _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
            unique = counts[inverse] == 1
            minimal = unique.copy()
            for left_out in range(size if size > 1 else 0):
                minimal &= ~unique_on[chosen[:left_out] + chosen[left_out + 1 :]]
            unique_on[chosen] = unique
            n_msus += int(minimal.sum())
    return n_msus


def _search_row(
    name: str,
    codes: NDArray[np.uint8],
    *,
    aim: str = "",
    max_size: int | None = None,
    listing: bool = True,
    memory: bool = False,
    runs: int = 3,
) -> Row:
    def work() -> MinimalUniques:
        return find_minimal_uniques(codes, max_size=max_size, listing=listing, workers=1)

    return measured(
        name, work, output=lambda found: found.n_msus, aim=aim, memory=memory, runs=runs
    )[0]


def _compile() -> Row:
    """Measure the first search of a process, which compiles or loads the kernels."""

    def work() -> int:
        codes = weakly_dependent(50, 8)
        return (
            find_minimal_uniques(codes).n_msus
            + find_minimal_uniques(strongly_dependent(50, 30), max_size=2).n_msus
        )

    return measured(
        "first searches, compiled or cached", work, output=int, aim="5 s", memory=False
    )[0]


def _census_extract() -> NDArray[np.uint8] | None:
    path = Path(os.environ.get("GAMEKEEPER_DATA", "-")) / "adult" / "adult_arx.csv"
    if not path.exists():
        return None
    text = np.loadtxt(path, dtype=str, delimiter=",", skiprows=1)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in text.T], axis=1)
    return (codes + 1).astype(np.uint8)


def rows() -> Iterator[Row]:
    """Measure by size and by shape; the output is the number of minimal sample uniques."""
    yield _compile()
    census = _census_extract()
    if census is not None:
        yield _search_row("census extract, 30,162 x 9", census, aim="0.063 s", runs=15)
    small = weakly_dependent(4_580, 8)
    yield measured(
        "every subset by sorting, 4,580 x 8", lambda: naive(small), output=int, memory=False
    )[0]
    for n_variables, aim in ((8, "0.03 s"), (10, "0.08 s"), (12, "0.2 s")):
        yield _search_row(
            f"weak dependence, 4,580 x {n_variables}", weakly_dependent(4_580, n_variables), aim=aim
        )
    for n_records, aim in ((20_000, ""), (73_489, "3.9 s, 55 MB")):
        codes = weakly_dependent(n_records, 12)
        yield _search_row(f"weak dependence, {n_records:,} x 12", codes, aim=aim, memory=True)
    yield _search_row(
        "weak dependence, 20,000 x 16, numbers only",
        weakly_dependent(20_000, 16),
        aim="5.3 s",
        listing=False,
        memory=True,
    )
    yield _search_row(
        "weak dependence, 20,000 x 16, up to 3", weakly_dependent(20_000, 16), max_size=3
    )
    for n_variables in (16, 24):
        codes = strongly_dependent(4_000, n_variables)
        yield _search_row(f"strong dependence, 4,000 x {n_variables}", codes, aim="1 s")
    yield _search_row(
        "strong dependence, 4,000 x 64, up to 3", strongly_dependent(4_000, 64), max_size=3
    )
    yield _search_row(
        "weak dependence, 1,000,000 x 9, numbers only",
        weakly_dependent(1_000_000, 9),
        aim="60 s",
        listing=False,
        memory=True,
        runs=1,
    )


def resident_mb() -> float:
    """Return the memory of this process, where the system tells it (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_of(n_records: int, n_variables: int, *, listing: bool, workers: int) -> float:
    """Return the most memory in MB that a search took beyond that of the process before it."""
    find_minimal_uniques(weakly_dependent(500, n_variables), listing=listing)
    codes = weakly_dependent(n_records, n_variables)
    before = most = resident_mb()
    ended = threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.is_set():
            most = max(most, resident_mb())
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    find_minimal_uniques(codes, listing=listing, workers=workers)
    ended.set()
    watcher.join()
    return most - before


if __name__ == "__main__":
    for workers in (1, 2):
        for listing in (False, True):
            above = memory_of(int(sys.argv[1]), int(sys.argv[2]), listing=listing, workers=workers)
            print(f"{workers} threads, {'list' if listing else 'numbers only'}: {above:.0f} MB")
