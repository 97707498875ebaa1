"""Minimal sample uniques: the smallest sets of variables that single out a record.

A record is unique on a set of variables if no other record has the same values there. A minimal
sample unique (MSU) is a set on which a record is unique while it is unique on none of its proper
subsets. A record has MSUs exactly if it is a sample unique; an MSU of few variables is a person
who stands out.

Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem
(2002); Manning, Haglin and Keane, A recursive search algorithm for statistical disclosure
assessment (2008). The search here is another one: classes of records that agree on sets of
variables, all pairs within small classes, and a table of bits per record. The number of MSUs, and
with it time and the size of a list, can grow exponentially with the number of variables.

How much there is to find, and by which search, is estimated before: the MSUs of some sample
uniques, drawn by a seed, are counted exactly by comparing each of them with all records; the rest
is taken to be like them. Where even one record has too many, the count ends early, and the
estimate, from the part of the search that was done, is rather too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import MapBlocks, in_threads
from gamekeeper.algorithms.uniques.search import (
    LOW,
    MOST_TABLE_COLUMNS,
    Compared,
    Found,
    Rows,
    Task,
    Transversals,
    distinct_rows,
    mask_type,
    packed_words,
    search_by_tables,
    search_by_transversals,
)
from gamekeeper.budget import Work, require_memory, workers_of
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.prompt_syntax import MAX_MSUS, MAX_SECONDS
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, memory_text

__all__ = ["MinimalUniques", "UniquesEstimate", "estimate_minimal_uniques", "find_minimal_uniques"]


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

    `n_uniques` is exact unless missing cells are ignored or match anything; the standard error of
    `n_msus` is from sampling records. `at_least` says that counting ended early, so that `n_msus`
    and `seconds` are rather too low. `list_bytes` is the size of the list of MSUs, `seconds` the
    processor time of the search, shared by the threads: the order of magnitude at best.
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
    if n_columns > MOST_TABLE_COLUMNS:
        return float("inf")
    return (1 << max(0, n_columns - LOW)) * _PER_TABLE_WORD


def _probe(rows: Rows, task: Task, numbers: NDArray[np.int64]) -> _Probe:
    """Count the MSUs of some targets, record by record."""
    search = Transversals(rows, replace(task, listing=False)).search
    # Never in the main thread: Ctrl-C while that is in a compiled kernel can crash the process.
    (looked,) = in_threads(lambda own: search(own, _MOST_NODES), [numbers], 1)
    seconds = 0.0
    if len(numbers):
        by_pairs = rows.n_rows * rows.packed.shape[1] * _PER_PAIR_WORD
        by_table = _table_seconds(rows.n_columns) if looked.by_table.any() else 0.0
        steps = looked.n_steps * _PER_STEP / len(numbers)
        seconds = by_pairs + steps + by_table * float(looked.by_table.mean())
    return _Probe(looked, seconds)


_POLICIES = ("category", "ignore", "wildcard")
MOST_VARIABLES = 64


@dataclass(frozen=True, slots=True, repr=False)
class MinimalUniques:
    """All minimal sample uniques of a file, or their numbers only.

    - `max_size`: of the largest MSU that was looked for.
    - `records`: the sample uniques, ascending; also those whose MSUs are all larger than
      `max_size`.
    - `counts`: per sample unique and size (0 .. max_size) the number of MSUs.
    - `by_variable`, `by_category`: per variable and size the number of MSUs that hold the variable,
      and for each variable the same per code and size of those whose record has the code.
    - `offsets`, `masks`: the MSUs of `records[i]` are `masks[offsets[i]:offsets[i + 1]]`, ordered
      by size; bit v stands for variable v, in 16, 32 or 64 bits. None if no list was asked for.
    """

    n_records: int
    n_variables: int
    max_size: int
    records: NDArray[np.int64]
    counts: NDArray[np.int64]
    by_variable: NDArray[np.int64]
    by_category: tuple[NDArray[np.int64], ...]
    offsets: NDArray[np.int64] | None
    masks: NDArray[np.unsignedinteger] | None

    @property
    def n_uniques(self) -> int:
        """The number of sample uniques."""
        return len(self.records)

    @property
    def n_msus(self) -> int:
        """The number of minimal sample uniques."""
        return int(self.counts.sum())

    @property
    def by_size(self) -> NDArray[np.int64]:
        """The number of minimal sample uniques of each size."""
        return self.counts.sum(axis=0)

    def of_record(self, record: int) -> list[tuple[int, ...]]:
        """Return the MSUs of a record as tuples of variables; none if it is not unique."""
        if self.offsets is None or self.masks is None:
            raise InputError(
                Reason.BAD_OPTION,
                "The minimal sample uniques of a record were asked for.",
                "The search kept numbers only.",
                "Search again with listing=True.",
            )
        place = int(np.searchsorted(self.records, record))
        if place == len(self.records) or self.records[place] != record:
            return []
        own = self.masks[self.offsets[place] : self.offsets[place + 1]].tolist()
        own.sort(key=lambda mask: (mask.bit_count(), mask))
        return [tuple(v for v in range(self.n_variables) if mask >> v & 1) for mask in own]

    def __repr__(self) -> str:
        return (
            f"MinimalUniques({self.n_msus} MSUs of {self.n_uniques} sample uniques among"
            f" {self.n_records} records, {self.n_variables} variables)"
        )


def find_minimal_uniques(
    codes: NDArray[np.unsignedinteger],
    *,
    counts: NDArray[np.int64] | None = None,
    missing: str = "category",
    max_size: int | None = None,
    listing: bool = True,
    workers: int | None = None,
    n_codes: Sequence[int] | None = None,
    max_msus: int | None = MAX_MSUS,
    max_seconds: float | None = MAX_SECONDS,
    progress: Progress | None = None,
    blocks: MapBlocks | None = None,
    apart: int | None = None,
) -> MinimalUniques:
    """Find every minimal sample unique of every record, exactly.

    - `codes`: a row per record and a column per variable (1 to 64); 0 is a missing cell.
    - `counts`: how many records each row stands for, where rows are different keys; one if None.
    - `missing`: what a missing cell means: "category" (a value as any other), "ignore" (it equals
      nothing and no MSU of its record uses it) or "wildcard" (it matches anything).
    - `max_size`: look for MSUs of up to so many variables; all if None.
    - `listing`: keep the MSUs themselves, 2 to 8 bytes each, not only their numbers.
    - `workers`: number of threads; all processors if None.
    - `n_codes`: number of codes of each variable, for the arrays of `by_category`; if None, one
      more than the largest code that occurs.
    - `max_msus`, `max_seconds`: where a list of more MSUs, or a search that takes more processor
      time, is to be expected, refuse it before it begins. None lifts a limit.
    - `blocks`: who searches the blocks of records, such as `Engine.map_blocks`; threads if None.
    - `apart`: how many of them work at a time and have memory of their own, as other machines do;
      None for this machine.

    Neither workers nor blocks change the result; `progress` may raise `Cancelled`. InputError if
    codes or options cannot be used, LimitError if an estimate exceeds a limit;
    `estimate_minimal_uniques` gives the estimate itself.

    Examples
    --------
    >>> found = find_minimal_uniques(np.array([[1, 1, 1], [1, 2, 2], [2, 1, 1]], dtype=np.uint8))
    >>> found.of_record(0)
    [(0, 1), (0, 2)]
    >>> found.by_size.tolist()
    [0, 3, 2, 0]
    """
    max_size = _checked(codes, missing, max_size, n_codes)
    n_rows, n_variables = codes.shape
    n_records = n_rows if counts is None else int(counts.sum())
    require_memory(
        _words(max_size, n_records),
        Work.UNIQUES.least_bytes(n_rows, n_variables),
        f"Their rows, sorted and packed, of {count_of(n_variables, 'variable')} each",
        "Take fewer key variables, or a random part of the records",
    )
    rows = distinct_rows(codes, counts)
    task = Task(missing, max_size, listing, workers_of(workers), progress, blocks, apart)
    require_memory(
        _words(max_size, n_records),
        # Numbers of MSUs by size while they are found, and again in order.
        len(rows.targets) * (4 + 8) * (max_size + 1),
        f"The numbers of combinations of {count_of(len(rows.targets), 'sample unique')}",
        "Use a smaller max_size (--max-size), or a random part of the records",
    )
    _require_within_limits(rows, task, max_msus, max_seconds)
    by_tables = best_search(rows, task) == "tables"
    found = search_by_tables(rows, task) if by_tables else search_by_transversals(rows, task)
    return _in_order(rows, found, n_records, max_size, n_codes, listing=listing)


def require_least_seconds(
    first: NDArray[np.unsignedinteger],
    n_records: int,
    max_size: int | None,
    max_seconds: float | None,
) -> None:
    """Refuse a search that is sure to take too long, by the first records of a file."""
    if max_seconds is None:
        return
    seconds = least_seconds(first, n_records)
    if seconds > max_seconds:
        raise LimitError(
            Reason.TOO_LARGE,
            _words(min(max_size or first.shape[1], first.shape[1]), n_records),
            f"As the first {len(first):,} records suggest, the search would take more than"
            f" {seconds:,.0f} s of processor time, and the limit is {max_seconds:,.0f} s.",
            "Use fewer key variables, a random part of the records, or a larger max_seconds"
            " (--max-seconds).",
        )


def _words(max_size: int, n_records: int) -> str:
    return (
        f"Minimal sample uniques of up to {count_of(max_size, 'variable')} were asked for, among"
        f" {count_of(n_records, 'record')}."
    )


def estimate_minimal_uniques(
    codes: NDArray[np.unsignedinteger],
    *,
    counts: NDArray[np.int64] | None = None,
    missing: str = "category",
    max_size: int | None = None,
    sample: int = 200,
    seed: int = 0,
) -> UniquesEstimate:
    """Estimate how many minimal sample uniques there are, from `sample` of the sample uniques.

    All of them give the exact number; others are chosen by the seed.

    Examples
    --------
    >>> estimate = estimate_minimal_uniques(
    ...     np.array([[1, 1, 1], [1, 2, 2], [2, 1, 1]], dtype=np.uint8)
    ... )
    >>> estimate.n_uniques, estimate.n_msus, estimate.standard_error
    (3, 5, 0.0)
    """
    max_size = _checked(codes, missing, max_size, None)
    task = Task(missing, max_size, listing=False, workers=1, progress=None)
    return estimate_for_rows(distinct_rows(codes, counts), task, sample=max(sample, 1), seed=seed)


def _require_within_limits(
    rows: Rows, task: Task, max_msus: int | None, max_seconds: float | None
) -> None:
    """Refuse a search whose estimate exceeds a limit; estimate only where that is possible."""
    may_be_long = (
        task.listing and max_msus is not None and (largest_number(rows, task.max_size) > max_msus)
    )
    may_be_slow = max_seconds is not None and slowest(rows) > max_seconds
    if not (may_be_long or may_be_slow):
        return
    estimate = estimate_for_rows(rows, task, sample=100, seed=0)
    about = "more than" if estimate.at_least else "about"
    found: list[str] = []
    advice: list[str] = []
    if task.listing and max_msus is not None and estimate.n_msus > max_msus:
        found.append(
            f"there are {about} {estimate.n_msus:,} of them, a list of"
            f" {memory_text(estimate.list_bytes)}, and the limit is {max_msus:,}"
        )
        advice += [
            "listing=False (--no-listing) for numbers without the list",
            "a larger max_msus (--max-msus)",
        ]
    if max_seconds is not None and estimate.seconds > max_seconds:
        found.append(
            f"the search would take {about} {estimate.seconds:,.0f} s of processor time, and the"
            f" limit is {max_seconds:,.0f} s"
        )
        advice.append("a larger max_seconds (--max-seconds)")
    if found:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Minimal sample uniques of up to {count_of(task.max_size, 'variable')} were asked"
            f" for, among {count_of(rows.n_rows, 'distinct record')}.",
            f"As {count_of(estimate.n_sampled, 'sample unique')} suggest, {', and '.join(found)}.",
            f"Use a smaller max_size (--max-size), {', '.join(advice)}, or fewer key variables.",
        )


def _in_order(
    rows: Rows,
    found: Found,
    n_records: int,
    max_size: int,
    n_codes: Sequence[int] | None,
    *,
    listing: bool,
) -> MinimalUniques:
    """Put what was found into the order of the file's records and variables."""
    from gamekeeper.algorithms.uniques.reduction_kernels import gather_lists

    uniques = np.flatnonzero(found.unique)
    uniques = uniques[np.argsort(rows.records[uniques])]
    counts = found.counts[uniques].astype(np.int64)
    found.counts = found.counts[:0]
    offsets = masks = None
    if listing:
        offsets = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        masks = np.empty(int(offsets[-1]), dtype=mask_type(rows.n_columns))
        places = np.full(len(rows.targets), -1, dtype=np.int64)
        places[uniques] = np.arange(len(uniques))
        while found.pieces:
            numbers, listed = found.pieces.pop()
            gather_lists(listed, found.n_sets[numbers], places[numbers], offsets, counts, masks)
    by_category: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * rows.n_columns
    stops = np.cumsum(rows.n_codes)
    for column, variable in enumerate(rows.columns.tolist()):
        sums = found.sums[stops[column] - rows.n_codes[column] : stops[column]]
        if n_codes is not None:
            sums = np.pad(sums, ((0, n_codes[variable] - len(sums)), (0, 0)))
        by_category[variable] = sums
    return MinimalUniques(
        n_records=n_records,
        n_variables=rows.n_columns,
        max_size=max_size,
        records=rows.records[uniques],
        counts=counts,
        by_variable=np.array([sums.sum(axis=0) for sums in by_category]),
        by_category=tuple(by_category),
        offsets=offsets,
        masks=masks,
    )


def _checked(
    codes: NDArray[np.unsignedinteger],
    missing: str,
    max_size: int | None,
    n_codes: Sequence[int] | None,
) -> int:
    """Return the largest size of an MSU, or say all that is wrong."""
    problems: list[Problem] = []
    if missing not in _POLICIES:
        found = f"{str(missing)!r} is not a way to read missing cells."
        do = f"Use one of {', '.join(_POLICIES)}."
        problems.append(Problem(Reason.BAD_OPTION, "missing", found, do))
    if max_size is not None and max_size < 1:
        found = f"it is {max_size}."
        problems.append(Problem(Reason.BAD_OPTION, "max_size", found, "Use 1 or more."))
    if codes.ndim != 2 or codes.dtype.kind != "u":
        found = f"an array of type {codes.dtype} with {codes.ndim} dimensions."
        do = "Give unsigned integers, a row per record and a column per variable."
        problems.append(Problem(Reason.WRONG_SCHEMA, "codes", found, do))
    else:
        problems += _shape_problems(codes, n_codes)
    refuse(problems, "Minimal sample uniques were asked for.", "The input cannot be searched.")
    return min(max_size or codes.shape[1], codes.shape[1])


def _shape_problems(
    codes: NDArray[np.unsignedinteger], n_codes: Sequence[int] | None
) -> list[Problem]:
    n_records, n_variables = codes.shape
    problems: list[Problem] = []
    if n_records == 0:
        problems.append(Problem(Reason.NOTHING_GIVEN, "codes", "there are no records."))
    if not 1 <= n_variables <= MOST_VARIABLES:
        reason = Reason.TOO_LARGE if n_variables else Reason.NOTHING_GIVEN
        found = f"there are {n_variables} variables."
        do = f"Choose 1 to {MOST_VARIABLES} key variables."
        problems.append(Problem(reason, "codes", found, do))
    if n_codes is not None and len(n_codes) != n_variables:
        found = f"{len(n_codes)} numbers for {n_variables} variables."
        do = "Give one number per variable."
        problems.append(Problem(Reason.BAD_OPTION, "n_codes", found, do))
    elif n_codes is not None and not problems:
        n_short = int(np.count_nonzero(codes.max(axis=0) >= np.asarray(n_codes)))
        if n_short:
            found = f"codes beyond it in {n_short} of {n_variables} variables."
            do = "Give the number of codes, missing included."
            problems.append(Problem(Reason.BAD_OPTION, "n_codes", found, do))
    return problems
