"""How much there is to find, and by which search, before minimal sample uniques are looked for.

The MSUs of some sample uniques, drawn by a seed, are counted exactly by comparing each of them with
all records; the rest is taken to be like them. Where even one record has too many, the count ends
early, and the estimate, from the part of the search that was done, is rather too low.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.apart import run_apart
from gamekeeper.algorithms.uniques.packed_rows import LOW, Rows, packed_words
from gamekeeper.algorithms.uniques.search import (
    MOST_TABLE_COLUMNS,
    Found,
    Reducer,
    Task,
    mask_type,
    most_difference_sets,
    usable_columns,
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


@dataclass(frozen=True, slots=True, repr=False)
class _Probe:
    unique: NDArray[np.bool_]
    n_sets: NDArray[np.int64]
    seconds: float
    at_least: bool
    n_differences: int


def estimate_for_rows(rows: Rows, task: Task, *, sample: int, seed: int) -> UniquesEstimate:
    """Estimate from some of the targets."""
    n_targets = len(rows.targets)
    order = np.random.default_rng(seed).permutation(n_targets)[:sample]
    # A first look says what a record costs: one with many difference sets is compared with them all.
    look = run_apart(lambda: _probe(rows, task, np.sort(order[:_FIRST_LOOK])))
    pairs = rows.n_rows * (1 + look.n_differences / max(len(look.n_sets), 1) / _SETS_PER_PAIR)
    n_sampled = min(len(order), max(_FIRST_LOOK, int(_MOST_PAIRS / max(pairs, 1))))
    probe = look
    if n_sampled > _FIRST_LOOK:
        probe = run_apart(lambda: _probe(rows, task, np.sort(order[:n_sampled])))
    scale = n_targets / max(n_sampled, 1)
    n_msus = round(float(probe.n_sets.sum()) * scale)
    error = 0.0
    if 1 < n_sampled < n_targets:
        left_out = 1 - n_sampled / n_targets
        error = float(n_targets * np.sqrt(probe.n_sets.var(ddof=1) / n_sampled * left_out))
    return UniquesEstimate(
        n_uniques=round(float(probe.unique.sum()) * scale),
        n_msus=n_msus,
        standard_error=error,
        at_least=probe.at_least,
        list_bytes=np.dtype(mask_type(rows.n_columns)).itemsize * n_msus,
        seconds=n_targets * min(probe.seconds, _table_seconds(rows)),
        n_sampled=n_sampled,
    )


def best_search(rows: Rows, task: Task) -> str:
    """Return which search should be faster, "tables" or "transversals"."""
    if rows.n_columns <= _TABLES_ALWAYS_UP_TO:
        return "tables"
    if rows.n_columns > MOST_TABLE_COLUMNS:
        return "transversals"
    by_pairs = rows.n_rows * rows.packed.shape[1] * _PER_PAIR_WORD
    if not len(rows.targets) or by_pairs > _table_seconds(rows):
        return "tables"
    step = max(1, len(rows.targets) // _PROBES)
    numbers = np.arange(0, len(rows.targets), step, dtype=np.int64)
    probe = run_apart(lambda: _probe(rows, task, numbers))
    return "tables" if _table_seconds(rows) < probe.seconds else "transversals"


def largest_number(rows: Rows, max_size: int) -> int:
    """Return a bound on the number of MSUs: no MSU of a record contains another one."""
    m = rows.n_columns
    return len(rows.targets) * comb(m, min(max_size, m // 2))


def slowest(rows: Rows) -> float:
    """Return a bound on the processor time of the search, infinite if there is no simple one."""
    return len(rows.targets) * _table_seconds(rows)


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
    return float(n_uniques * min(by_pairs, _seconds_by_tables(n_columns)))


def _table_seconds(rows: Rows) -> float:
    """Return the seconds per record of a search by tables."""
    return _seconds_by_tables(rows.n_columns)


def _seconds_by_tables(n_columns: int) -> float:
    if n_columns > MOST_TABLE_COLUMNS:
        return float("inf")
    return (1 << max(0, n_columns - LOW)) * _PER_TABLE_WORD


def _probe(rows: Rows, task: Task, numbers: NDArray[np.int64]) -> _Probe:
    """Count the MSUs of some targets, record by record."""
    from gamekeeper.algorithms.uniques import (
        reduction_kernels as reduction,
    )
    from gamekeeper.algorithms.uniques import (
        transversal_kernels as transversals,
    )

    targets = rows.targets[numbers]
    unique = np.empty(len(numbers), dtype=bool)
    starts, sets = transversals.collect_differences(
        targets, usable_columns(rows, task.missing), rows.present, task.missing == "wildcard",
        rows.codes, rows.packed, rows.wide, rows.n_high, unique,
    )  # fmt: skip
    most_sets = most_difference_sets(rows.n_columns, task.max_size)
    many = np.zeros(len(numbers), dtype=bool)
    if most_sets is not None:
        many = np.diff(starts) > most_sets
    found = Found.nothing(rows, task.max_size)
    counts = np.zeros((len(numbers), task.max_size + 1), dtype=np.int32)
    n_sets = np.zeros(len(numbers), dtype=np.int64)
    _, n_steps, n_ended = transversals.find_transversals(
        targets, unique & ~many, starts, sets, rows.codes, rows.n_high, task.max_size,
        np.concatenate([[0], np.cumsum(rows.n_codes)]), rows.bit_masks(), found.sums, counts,
        n_sets, _MOST_NODES, False,
    )  # fmt: skip
    if many.any():
        reducer = Reducer(rows, missing=task.missing, max_size=task.max_size, listing=False)
        for i in np.flatnonzero(many):
            table = np.zeros((1, 1 << rows.n_high), dtype=np.uint64)
            reduction.mark_differences(table, starts[i : i + 2], sets, rows.n_columns)
            reduction.close_tables(table, rows.n_high)
            n_sets[i] = reducer.reduce(table, numbers[i : i + 1], found.sums)[1][0]
    by_pairs = rows.n_rows * rows.packed.shape[1] * _PER_PAIR_WORD
    by_table = _table_seconds(rows) if many.any() else 0.0
    steps = n_steps * _PER_STEP / max(len(numbers), 1)
    seconds = by_pairs + steps + by_table * float(many.mean()) if len(numbers) else 0.0
    return _Probe(unique, n_sets, seconds, n_ended > 0, int(starts[-1]))
