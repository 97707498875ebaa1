"""How much there is to find, and by which search, before minimal sample uniques are looked for.

The MSUs of some sample uniques, drawn by a seed, are counted exactly by comparing each of them with
all records; the rest is taken to be like them. Where even one record has too many, the count ends
early, and the estimate, from the part of the search that was done, is rather too low.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.packed_rows import LOW, Rows, packed_words
from gamekeeper.algorithms.uniques.search import (
    MOST_TABLE_COLUMNS,
    Compared,
    Task,
    Transversals,
    mask_type,
)

# Rough seconds per word of a table, per packed word of a pair, per step of a search. The first is
# from surveys of 16 to 24 dependent variables (1e-8 to 3e-8); 16 weakly dependent ones took 7e-8. The
# other two are guesses that choose the right search on those surveys.
_PER_TABLE_WORD = 3e-8
_PER_PAIR_WORD = 2e-9
_PER_STEP = 6e-9
_MOST_NODES = 1 << 12
_MOST_PAIRS = 200_000_000
_TABLES_ALWAYS_UP_TO = 13
_PROBES = 32
_FIRST_LOOK = 4
# How many difference sets are looked at in the time that comparing two records takes.
_SETS_PER_PAIR = 8


@dataclass(frozen=True, slots=True)
class UniquesEstimate:
    """What a search for minimal sample uniques would find and cost.

    Attributes
    ----------
    n_uniques
        Sample uniques; exact unless missing cells are ignored or match anything.
    n_msus, standard_error
        MSUs in all, and the standard error from sampling records.
    at_least
        Whether counting ended early, so that `n_msus` and `seconds` are rather too low.
    list_bytes
        Size of the list of MSUs.
    seconds
        Processor time of the search, shared by the threads: the order of magnitude at best.
    n_sampled
        Records that were looked at.
    """

    n_uniques: int
    n_msus: int
    standard_error: float
    at_least: bool
    list_bytes: int
    seconds: float
    n_sampled: int


class _Probe(NamedTuple):
    """What was found about some targets, and the seconds that each takes without tables."""

    looked: Compared
    seconds: float


def estimate_for_rows(rows: Rows, task: Task, *, sample: int, seed: int) -> UniquesEstimate:
    """Estimate from some of the targets."""
    n_targets = len(rows.targets)
    order = np.random.default_rng(seed).permutation(n_targets)[:sample]
    # A first look says what a record costs: one with many difference sets is compared with them all.
    look = _probe(rows, task, np.sort(order[:_FIRST_LOOK]))
    n_looked = max(len(look.looked.found.n_sets), 1)
    pairs = rows.n_rows * (1 + look.looked.n_differences / n_looked / _SETS_PER_PAIR)
    n_sampled = min(len(order), max(_FIRST_LOOK, int(_MOST_PAIRS / max(pairs, 1))))
    probe = look
    if n_sampled > _FIRST_LOOK:
        probe = _probe(rows, task, np.sort(order[:n_sampled]))
    scale = n_targets / max(n_sampled, 1)
    found = probe.looked.found
    n_msus = round(float(found.n_sets.sum()) * scale)
    error = 0.0
    if 1 < n_sampled < n_targets:
        left_out = 1 - n_sampled / n_targets
        error = float(n_targets * np.sqrt(found.n_sets.var(ddof=1) / n_sampled * left_out))
    return UniquesEstimate(
        n_uniques=round(float(found.unique.sum()) * scale),
        n_msus=n_msus,
        standard_error=error,
        at_least=probe.looked.n_ended > 0,
        list_bytes=np.dtype(mask_type(rows.n_columns)).itemsize * n_msus,
        seconds=n_targets * min(probe.seconds, _table_seconds(rows.n_columns)),
        n_sampled=n_sampled,
    )


def best_search(rows: Rows, task: Task) -> str:
    """Return which search should be faster, "tables" or "transversals"."""
    if rows.n_columns <= _TABLES_ALWAYS_UP_TO:
        return "tables"
    if rows.n_columns > MOST_TABLE_COLUMNS:
        return "transversals"
    by_pairs = rows.n_rows * rows.packed.shape[1] * _PER_PAIR_WORD
    by_tables = _table_seconds(rows.n_columns)
    if not len(rows.targets) or by_pairs > by_tables:
        return "tables"
    step = max(1, len(rows.targets) // _PROBES)
    numbers = np.arange(0, len(rows.targets), step, dtype=np.int64)
    probe = _probe(rows, task, numbers)
    return "tables" if by_tables < probe.seconds else "transversals"


def largest_number(rows: Rows, max_size: int) -> int:
    """Return a bound on the number of MSUs: no MSU of a record contains another one."""
    m = rows.n_columns
    return len(rows.targets) * comb(m, min(max_size, m // 2))


def slowest(rows: Rows) -> float:
    """Return a bound on the processor time of the search, infinite if there is no simple one."""
    return len(rows.targets) * _table_seconds(rows.n_columns)


def least_seconds(first: NDArray[np.unsignedinteger], n_records: int) -> float:
    """Return about how long a search takes at least, as the first records of a file suggest.

    Two records agree with a probability p, which pairs of equal first records tell; that of a
    record to have no twin among n is then at least exp(-np) on average, by Jensen's inequality. An
    upper limit of p makes it a lower limit of uniques. If the first records are more alike than
    others, it is too low.
    """
    n_first, n_columns = first.shape
    sizes = np.unique(first, axis=0, return_counts=True)[1].astype(np.int64)
    n_equal = float((sizes * (sizes - 1)).sum() / 2)
    n_pairs = n_first * (n_first - 1) / 2
    most_equal = (n_equal + 2 * np.sqrt(n_equal) + 3) / max(n_pairs, 1)
    n_uniques = n_records * np.exp(-n_records * most_equal)
    by_pairs = n_uniques * packed_words(n_columns) * _PER_PAIR_WORD
    return float(n_uniques * min(by_pairs, _table_seconds(n_columns)))


def _table_seconds(n_columns: int) -> float:
    """Return the seconds per record of a search by tables."""
    if n_columns > MOST_TABLE_COLUMNS:
        return float("inf")
    return (1 << max(0, n_columns - LOW)) * _PER_TABLE_WORD


def _probe(rows: Rows, task: Task, numbers: NDArray[np.int64]) -> _Probe:
    """Count the MSUs of some targets, record by record."""
    search = Transversals(rows, replace(task, listing=False)).search
    # Never in the main thread: Ctrl-C while that is in a compiled kernel can crash the process.
    with ThreadPoolExecutor(1) as executor:
        looked = executor.submit(search, numbers, _MOST_NODES).result()
    seconds = 0.0
    if len(numbers):
        by_pairs = rows.n_rows * rows.packed.shape[1] * _PER_PAIR_WORD
        by_table = _table_seconds(rows.n_columns) if looked.by_table.any() else 0.0
        steps = looked.n_steps * _PER_STEP / len(numbers)
        seconds = by_pairs + steps + by_table * float(looked.by_table.mean())
    return _Probe(looked, seconds)
