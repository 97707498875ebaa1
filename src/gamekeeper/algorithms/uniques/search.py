"""The two searches for minimal sample uniques, in blocks of records, by threads.

By tables: every block has a bit per record and set of variables, and is filled and reduced by one
thread. By transversals: every record is compared with all others. Neither depends on the number of
threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.crew import Crew
from gamekeeper.algorithms.uniques.packed_rows import LOW, Rows
from gamekeeper.results import Progress

MOST_TABLE_COLUMNS = 24
# Tables that are there at a time take at most so much; there are several blocks where all tables
# take more than twice the least.
_TABLE_BYTES = 512 << 20
_LEAST_BYTES = 4 << 20
_LISTED_AT_ONCE = 2048
# A class with up to so many pairs is compared pair by pair on all variables. Of others the low
# variables are compared at once, unless more members are open than this. Pairs from 256 to 1,024 and
# members from 512 to 8,192 made little difference.
_SMALL = 1024
_MOST = 1024
# A task should take a fraction of a second, so that work can be cancelled.
_PAIRS_PER_TASK = 30_000_000


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a search."""

    missing: str
    max_size: int
    listing: bool
    workers: int
    progress: Progress | None


# Numbers of targets and the list of their sets.
Listed = tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]


@dataclass(slots=True, repr=False)
class Found:
    """What was found about the targets, in their order.

    Lists come in pieces, each with the numbers of its targets.
    """

    unique: NDArray[np.bool_]
    counts: NDArray[np.int32]
    n_sets: NDArray[np.int64]
    sums: NDArray[np.int64]
    pieces: list[Listed]

    @classmethod
    def nothing(cls, rows: Rows, max_size: int) -> Found:
        """Return room for what is to be found."""
        n_targets = len(rows.targets)
        return cls(
            unique=np.ones(n_targets, dtype=bool),
            counts=np.zeros((n_targets, max_size + 1), dtype=np.int32),
            n_sets=np.zeros(n_targets, dtype=np.int64),
            sums=np.zeros((int(rows.n_codes.sum()), max_size + 1), dtype=np.int64),
            pieces=[],
        )


Piece = tuple[NDArray[np.int64], NDArray[np.unsignedinteger], NDArray[np.int64]]


class Reducer:
    """Turns tables of shared sets into counts and lists."""

    def __init__(self, rows: Rows, task: Task, found: Found) -> None:
        self.rows = rows
        self.task = task
        self.found = found
        self.usable = usable_columns(rows, task.missing)
        self.offsets = np.concatenate([[0], np.cumsum(rows.n_codes)])
        bit_masks = rows.bit_masks()
        self.low_masks = _masks_of(1 << LOW, bit_masks[:LOW])
        self.high_masks = _masks_of(1 << rows.n_high, bit_masks[LOW : LOW + rows.n_high])

    def reduce(
        self, tables: NDArray[np.uint64], numbers: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> NDArray[np.unsignedinteger]:
        """Note what the closed tables of some targets hold; return their list."""
        from gamekeeper.algorithms.uniques import reduction_kernels as reduction

        rows, found, max_size = self.rows, self.found, self.task.max_size
        targets = rows.targets[numbers]
        unique = np.empty(len(numbers), dtype=bool)
        n_sets = np.empty(len(numbers), dtype=np.int64)
        counts = np.zeros((len(numbers), max_size + 1), dtype=np.int32)
        reduction.minimize_tables(tables, targets, self.usable, max_size, unique, n_sets)
        masks = np.empty(int(n_sets.sum()) if self.task.listing else 0, dtype=np.uint64)
        reduction.emit_sets(
            tables, targets, rows.codes, self.offsets, sums, counts, masks, self.high_masks,
            self.low_masks, rows.n_high,
        )  # fmt: skip
        found.unique[numbers] = unique
        found.n_sets[numbers] = n_sets
        found.counts[numbers] = counts
        return masks.astype(mask_type(rows.n_columns), copy=False)


def search_by_tables(rows: Rows, task: Task) -> Found:
    """Search by tables of all sets of variables; takes 2^(m-6) words per record of a block."""
    from gamekeeper.algorithms.uniques import (
        reduction_kernels as reduction,
    )
    from gamekeeper.algorithms.uniques import (
        shared_set_kernels as kernels,
    )
    from gamekeeper.algorithms.uniques.pair_kernels import mark_pairs

    found = Found.nothing(rows, task.max_size)
    reducer = Reducer(rows, task, found)
    n_targets, n_high, n_codes = len(rows.targets), rows.n_high, int(rows.n_codes.max())
    classes, incomplete = rows, np.empty(0, dtype=np.int32)
    if task.missing == "wildcard":
        complete = rows.present == full_set(rows)
        incomplete = np.flatnonzero(~complete).astype(np.int32)
        classes = _complete_part(rows, complete) if len(incomplete) else rows
    walk = kernels.Walk.through(classes, small=_SMALL, most=_MOST)
    block = _block_size(n_targets, n_high, len(incomplete), task.workers)

    def search(first: int) -> tuple[list[Listed], NDArray[np.int64]]:
        numbers = np.arange(first, min(first + block, n_targets))
        tables = np.zeros((len(numbers), 1 << n_high), dtype=np.uint64)
        kernels.fill_tables(tables, first, walk, kernels.Space.to(walk, n_codes))
        if len(incomplete):
            mark_pairs(
                tables, rows.targets[numbers], rows.present, incomplete, rows.codes,
                rows.packed, rows.wide, n_high,
            )  # fmt: skip
            reduction.close_tables(tables, n_high)
        sums = np.zeros_like(found.sums)
        # Lists are long before they are made narrow, so that they are made in parts.
        parts = np.array_split(np.arange(len(numbers)), -(-len(numbers) // _LISTED_AT_ONCE))
        return [
            (numbers[part], reducer.reduce(tables[part[0] : part[-1] + 1], numbers[part], sums))
            for part in parts
        ], sums

    with Crew(task.workers, -(-n_targets // block), task.progress) as crew:
        for pieces, sums in crew.run(search, range(0, n_targets, block)):
            found.sums += sums
            if task.listing:
                found.pieces += pieces
    return found


def _block_size(n_targets: int, n_high: int, n_incomplete: int, workers: int) -> int:
    """Return how many targets have tables at a time.

    Each block of targets is compared with all rows, so that few blocks take less time, many less
    memory; each is the work of one thread.
    """
    table_bytes = 8 << n_high
    n_blocks = min(2 + 2 * workers, n_targets * table_bytes // _LEAST_BYTES)
    n_blocks = max(n_blocks, n_targets * n_incomplete // (8 * _PAIRS_PER_TASK), 1)
    return max(1, min(-(-n_targets // n_blocks), _TABLE_BYTES // workers // table_bytes))


def search_by_transversals(rows: Rows, task: Task) -> Found:
    """Search record by record; takes time in proportion to pairs of records and to the output."""
    from gamekeeper.algorithms.uniques import (
        reduction_kernels as reduction,
    )
    from gamekeeper.algorithms.uniques import (
        transversal_kernels as transversals,
    )

    found = Found.nothing(rows, task.max_size)
    most_sets = most_difference_sets(rows.n_columns, task.max_size)
    reducer = Reducer(rows, task, found) if most_sets is not None else None
    usable = usable_columns(rows, task.missing)
    offsets = np.concatenate([[0], np.cumsum(rows.n_codes)])
    bit_masks = rows.bit_masks()
    n_targets = len(rows.targets)
    chunk = max(1, min(_PAIRS_PER_TASK // rows.n_rows, -(-n_targets // (4 * task.workers))))

    def search(begin: int) -> list[Piece]:
        numbers = np.arange(begin, min(begin + chunk, n_targets))
        targets = rows.targets[numbers]
        unique = np.empty(len(numbers), dtype=bool)
        starts, sets = transversals.collect_differences(
            targets, usable, rows.present, task.missing == "wildcard", rows.codes, rows.packed,
            rows.wide, rows.n_high, unique,
        )  # fmt: skip
        many = np.zeros(len(numbers), dtype=bool)
        if most_sets is not None:
            many = np.diff(starts) > most_sets
        sums = np.zeros_like(found.sums)
        counts = np.zeros((len(numbers), task.max_size + 1), dtype=np.int32)
        n_sets = np.zeros(len(numbers), dtype=np.int64)
        masks, _, _ = transversals.find_transversals(
            targets, unique & ~many, starts, sets, rows.codes, rows.n_high, task.max_size,
            offsets, bit_masks, sums, counts, n_sets, 1 << 62, task.listing,
        )  # fmt: skip
        found.unique[numbers] = unique
        found.n_sets[numbers] = n_sets
        found.counts[numbers] = counts
        masks = masks.astype(mask_type(rows.n_columns), copy=False)
        pieces: list[Piece] = [(numbers, masks, sums)]
        if reducer is not None:
            for i in np.flatnonzero(many):
                table = np.zeros((1, 1 << rows.n_high), dtype=np.uint64)
                reduction.mark_differences(table, starts[i : i + 2], sets, rows.n_columns)
                reduction.close_tables(table, rows.n_high)
                own = numbers[i : i + 1]
                pieces.append((own, reducer.reduce(table, own, sums), sums[:0]))
        return pieces

    total = -(-n_targets // chunk)
    with Crew(task.workers, total, task.progress) as crew:
        for pieces in crew.run(search, range(0, n_targets, chunk)):
            found.sums += pieces[0][2]
            # A target that was left to the table has no list in the first piece.
            later = {int(own[0]) for own, _, _ in pieces[1:]}
            if task.listing and later:
                numbers, masks, _ = pieces[0]
                kept = np.array([n for n in numbers.tolist() if n not in later], dtype=np.int64)
                pieces[0] = (kept, masks, pieces[0][2])
            if task.listing:
                found.pieces += [(numbers, masks) for numbers, masks, _ in pieces]
    return found


def most_difference_sets(n_columns: int, max_size: int) -> int | None:
    """Return from how many difference sets on a table beats the search for transversals."""
    n_small_sets = sum(comb(n_columns, size) for size in range(max_size + 1))
    if n_columns > MOST_TABLE_COLUMNS or n_small_sets << 4 < 1 << n_columns:
        return None
    return 64 if n_columns <= 20 else 256


def usable_columns(rows: Rows, missing: str) -> NDArray[np.uint64]:
    """Return per row the variables that its minimal uniques may use."""
    return rows.present if missing != "category" else np.full(rows.n_rows, full_set(rows))


def mask_type(n_variables: int) -> type[np.unsignedinteger]:
    """Return the narrowest type, from 16 bits on, with a bit for each variable."""
    return np.uint16 if n_variables <= 16 else np.uint32 if n_variables <= 32 else np.uint64


def full_set(rows: Rows) -> np.uint64:
    """Return the index of the set of all variables."""
    return np.uint64((1 << rows.n_columns) - 1)


def _masks_of(n_sets: int, bit_masks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the masks of variables of the first indices of sets."""
    indices = np.arange(n_sets, dtype=np.uint64)
    masks = np.zeros(n_sets, dtype=np.uint64)
    for bit, mask in enumerate(bit_masks):
        masks |= ((indices >> np.uint64(bit)) & np.uint64(1)) * mask
    return masks


def _complete_part(rows: Rows, complete: NDArray[np.bool_]) -> Rows:
    """Return the rows without missing cells; their slots remain those among all rows."""
    return Rows(
        columns=rows.columns,
        n_codes=rows.n_codes,
        codes=np.ascontiguousarray(rows.codes[:, complete]),
        packed=rows.packed[complete],
        wide=rows.wide,
        present=rows.present[complete],
        targets=rows.targets[complete[rows.targets]],
        slots=rows.slots[complete],
        records=rows.records[complete[rows.targets]],
    )
