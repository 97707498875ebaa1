"""The two searches for minimal sample uniques, in blocks of records, and the rows that they go over.

By tables: every block has a bit per record and set of variables, and is filled and reduced by one
worker. By transversals: every record is compared with all others. Neither depends on the number of
workers, nor on whether these are threads, processes or other machines.

Records that are equal are one row: none of them is a sample unique, and one is enough to agree with
others. Columns are ordered by how well they tell records apart, the best first, so that classes
become small early. Codes of up to nine bits are packed six to a word for the comparison of pairs.
Costs a sort; takes 4 bytes per cell and 8 per record and six variables.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import Kernel, MapBlocks, Shared, map_blocks
from gamekeeper.algorithms.classes import KeyFields, sorted_rows
from gamekeeper.results import Progress

LOW = 6
FIELDS = 6
FIELD_BITS = 10
_FIELD_CODES = 1 << (FIELD_BITS - 1)


@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """Distinct rows in lexicographic order, column by column.

    `columns[i]` is the variable that stands in column i. `targets` are the rows that occur once,
    `records` the records that they are, `slots` the number of each row among the targets or -1.
    `present` has the bits of the columns that are not missing, in the order of a set's index.
    `wide` lists the columns with more codes than a packed field holds.
    """

    columns: NDArray[np.int64]
    n_codes: NDArray[np.int64]
    codes: NDArray[np.uint32]
    packed: NDArray[np.uint64]
    wide: NDArray[np.int64]
    present: NDArray[np.uint64]
    targets: NDArray[np.int32]
    slots: NDArray[np.int32]
    records: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        """The number of variables."""
        return len(self.columns)

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""
        return self.codes.shape[1]

    @property
    def n_high(self) -> int:
        """The number of columns that are not among the low ones."""
        return max(0, self.n_columns - LOW)

    def bit_masks(self) -> NDArray[np.uint64]:
        """Return per bit of the index of a set the mask of its variable."""
        masks = np.zeros(64, dtype=np.uint64)
        for column, variable in enumerate(self.columns):
            masks[_index_bit(column, self.n_high)] = np.uint64(1) << np.uint64(variable)
        return masks


def _index_bit(column: int, n_high: int) -> int:
    return LOW + n_high - 1 - column if column < n_high else column - n_high


def packed_words(n_columns: int) -> int:
    """Return how many words the packed codes of a row take."""
    return 1 + -(-max(0, n_columns - LOW) // FIELDS)


def distinct_rows(
    codes: NDArray[np.unsignedinteger], counts: NDArray[np.int64] | None = None
) -> Rows:
    """Return the distinct rows of a matrix of codes with at least one record and one variable.

    `counts` says how many records each row stands for; one if it is None.
    """
    n_records, n_columns = codes.shape
    n_codes = codes.max(axis=0).astype(np.int64) + 1
    columns = _most_telling_first(codes, n_codes, counts)
    # Rows are sorted by their last field first.
    ordered = codes.T[columns[::-1]].T
    order, is_first = sorted_rows(KeyFields.for_codes(ordered).pack(ordered))
    first = np.flatnonzero(is_first)
    sizes = (
        np.diff(first, append=n_records)
        if counts is None
        else np.add.reduceat(counts[order], first)
    )
    rows = order[first]
    matrix = np.empty((n_columns, len(first)), dtype=np.uint32)
    for number, variable in enumerate(columns):
        matrix[number] = codes[:, variable][rows]
    targets = np.flatnonzero(sizes == 1).astype(np.int32)
    slots = np.full(len(first), -1, dtype=np.int32)
    slots[targets] = np.arange(len(targets), dtype=np.int32)
    n_high = max(0, n_columns - LOW)
    packed = np.zeros((len(first), packed_words(n_columns)), dtype=np.uint64)
    present = np.zeros(len(first), dtype=np.uint64)
    wide: list[int] = []
    for column in range(n_columns):
        bit = _index_bit(column, n_high)
        # A word has as many fields as there are low columns.
        word, place = divmod(bit, FIELDS)
        present |= (matrix[column] != 0).astype(np.uint64) << np.uint64(bit)
        if n_codes[columns[column]] > _FIELD_CODES:
            wide.append(column)
        else:
            packed[:, word] |= matrix[column].astype(np.uint64) << np.uint64(place * FIELD_BITS)
    return Rows(
        columns=columns,
        n_codes=n_codes[columns],
        codes=matrix,
        packed=packed,
        wide=np.array(wide, dtype=np.int64),
        present=present,
        targets=targets,
        slots=slots,
        records=rows[targets],
    )


def _most_telling_first(
    codes: NDArray[np.unsignedinteger], n_codes: NDArray[np.int64], counts: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Order the columns by the chance that two records agree on them."""
    agreeing = [
        float(
            np.square(
                np.bincount(codes[:, column], counts, int(n_codes[column])).astype(float)
            ).sum()
        )
        for column in range(codes.shape[1])
    ]
    return np.argsort(agreeing, kind="stable").astype(np.int64)


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
    blocks: MapBlocks | None = None
    apart: int | None = None

    @property
    def mapping(self) -> MapBlocks:
        """Who does the work: threads where nothing else is said."""
        return self.blocks or partial(map_blocks, workers=self.workers)

    @property
    def for_workers(self) -> Task:
        """The task without what stays with the caller: a worker may be another process."""
        return replace(self, progress=None, blocks=None)


# Numbers of targets and the list of their sets.
Listed = tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]


@dataclass(slots=True, repr=False)
class Found:
    """What was found about the targets, or a block of them, in their order; lists come in pieces."""

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
            sums=_no_sums(rows, max_size),
            pieces=[],
        )

    def take(self, first: int, block: Found) -> None:
        """Put what was found about a block of targets, from the first on, in its place."""
        part = slice(first, first + len(block.unique))
        self.unique[part] = block.unique
        self.counts[part] = block.counts
        self.n_sets[part] = block.n_sets
        self.sums += block.sums
        self.pieces += block.pieces


Reduced = tuple[
    NDArray[np.bool_], NDArray[np.int64], NDArray[np.int32], NDArray[np.unsignedinteger]
]


class Reducer:
    """Turns tables of shared sets into counts and lists."""

    def __init__(self, rows: Rows, asked: Task) -> None:
        self.rows = rows
        self.max_size = asked.max_size
        self.listing = asked.listing
        self.usable = usable_columns(rows, asked.missing)
        self.offsets = np.concatenate([[0], np.cumsum(rows.n_codes)])
        bit_masks = rows.bit_masks()
        self.low_masks = _masks_of(1 << LOW, bit_masks[:LOW])
        self.high_masks = _masks_of(1 << rows.n_high, bit_masks[LOW : LOW + rows.n_high])

    def reduce(
        self, tables: NDArray[np.uint64], numbers: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> Reduced:
        """Return what the closed tables of some targets hold: uniques, numbers, counts, the list."""
        from gamekeeper.algorithms.uniques import reduction_kernels as reduction

        rows = self.rows
        targets = rows.targets[numbers]
        unique = np.empty(len(numbers), dtype=bool)
        n_sets = np.empty(len(numbers), dtype=np.int64)
        counts = np.zeros((len(numbers), self.max_size + 1), dtype=np.int32)
        reduction.minimize_tables(tables, targets, self.usable, self.max_size, unique, n_sets)
        masks = np.empty(int(n_sets.sum()) if self.listing else 0, dtype=np.uint64)
        reduction.emit_sets(
            tables, targets, rows.codes, self.offsets, sums, counts, masks, self.high_masks,
            self.low_masks, rows.n_high,
        )  # fmt: skip
        return unique, n_sets, counts, masks.astype(mask_type(rows.n_columns), copy=False)


def search_by_tables(rows: Rows, task: Task) -> Found:
    """Search by tables of all sets of variables; takes 2^(m-6) words per record of a block."""
    n_targets = len(rows.targets)
    n_incomplete = 0
    if task.missing == "wildcard":
        n_incomplete = int(np.count_nonzero(rows.present != full_set(rows)))
    block = (
        _block_size(n_targets, rows.n_high, n_incomplete, task.workers)
        if task.apart is None
        else _block_apart(n_targets, rows.n_high, task.apart)
    )
    return _searched(rows, task, Kernel(partial(_Tables, task.for_workers), _search_tables), block)


def _searched(rows: Rows, task: Task, kernel: Kernel[Any, range, Found], block: int) -> Found:
    """Let blocks of so many targets be searched, and put together what was found."""
    found = Found.nothing(rows, task.max_size)
    n_targets = len(rows.targets)
    tasks = [range(n, min(n + block, n_targets)) for n in range(0, n_targets, block)]
    shared = {item.name: getattr(rows, item.name) for item in fields(Rows)}
    with closing(task.mapping(kernel, shared, tasks, progress=task.progress)) as outcomes:
        for own, outcome in zip(tasks, outcomes, strict=True):
            found.take(own.start, outcome)
    return found


class _Tables:
    """What a worker needs to fill tables and reduce them."""

    def __init__(self, asked: Task, shared: Shared) -> None:
        from gamekeeper.algorithms.uniques import shared_set_kernels as kernels

        self.rows = rows = Rows(**shared)
        self.asked = asked
        self.reducer = Reducer(rows, asked)
        classes, self.incomplete = rows, np.empty(0, dtype=np.int32)
        if asked.missing == "wildcard":
            complete = rows.present == full_set(rows)
            self.incomplete = np.flatnonzero(~complete).astype(np.int32)
            classes = _complete_part(rows, complete) if len(self.incomplete) else rows
        self.walk = kernels.Walk.through(classes, small=_SMALL, most=_MOST)
        self.n_codes = int(rows.n_codes.max())


def _search_tables(state: _Tables, block: range) -> Found:
    from gamekeeper.algorithms.uniques import reduction_kernels as reduction
    from gamekeeper.algorithms.uniques import shared_set_kernels as kernels

    rows, n_high = state.rows, state.rows.n_high
    numbers = np.arange(block.start, block.stop)
    tables = np.zeros((len(numbers), 1 << n_high), dtype=np.uint64)
    kernels.fill_tables(
        tables, block.start, state.walk, kernels.Space.to(state.walk, state.n_codes)
    )
    if len(state.incomplete):
        reduction.mark_pairs(
            tables, rows.targets[numbers], rows.present, state.incomplete, rows.codes,
            rows.packed, rows.wide, n_high,
        )  # fmt: skip
        reduction.close_tables(tables, n_high)
    sums = _no_sums(rows, state.asked.max_size)
    # Lists are long before they are made narrow, so that they are made in parts.
    parts = np.array_split(np.arange(len(numbers)), -(-len(numbers) // _LISTED_AT_ONCE))
    reduced = [
        state.reducer.reduce(tables[part[0] : part[-1] + 1], numbers[part], sums) for part in parts
    ]
    unique = np.concatenate([one[0] for one in reduced])
    n_sets = np.concatenate([one[1] for one in reduced])
    counts = np.concatenate([one[2] for one in reduced])
    pieces = [(numbers[part], one[3]) for part, one in zip(parts, reduced, strict=True)]
    return Found(unique, counts, n_sets, sums, pieces if state.asked.listing else [])


def _no_sums(rows: Rows, max_size: int) -> NDArray[np.int64]:
    return np.zeros((int(rows.n_codes.sum()), max_size + 1), dtype=np.int64)


def _block_size(n_targets: int, n_high: int, n_incomplete: int, workers: int) -> int:
    """Return how many targets have tables at a time.

    Each block of targets is compared with all rows, so that few blocks take less time, many less
    memory; each is the work of one thread.
    """
    table_bytes = 8 << n_high
    n_blocks = min(2 + 2 * workers, n_targets * table_bytes // _LEAST_BYTES)
    n_blocks = max(n_blocks, n_targets * n_incomplete // (8 * _PAIRS_PER_TASK), 1)
    return max(1, min(-(-n_targets // n_blocks), _TABLE_BYTES // workers // table_bytes))


def _block_apart(n_targets: int, n_high: int, workers: int) -> int:
    """Return how many targets a worker with memory of its own takes at a time.

    Each block is compared with all rows, and handed over: as many as there are workers and no more,
    but for their memory.
    """
    return max(1, min(-(-n_targets // workers), _TABLE_BYTES // (8 << n_high)))


def search_by_transversals(rows: Rows, task: Task) -> Found:
    """Search record by record; takes time in proportion to pairs of records and to the output."""
    n_targets = len(rows.targets)
    if task.apart is None:
        chunk = max(1, min(_PAIRS_PER_TASK // rows.n_rows, -(-n_targets // (4 * task.workers))))
    else:
        chunk = max(1, -(-n_targets // (4 * task.apart)))
    kernel = Kernel(partial(_transversals, task.for_workers), _search_transversals)
    return _searched(rows, task, kernel, chunk)


def _transversals(asked: Task, shared: Shared) -> Transversals:
    return Transversals(Rows(**shared), asked)


def _search_transversals(state: Transversals, block: range) -> Found:
    return state.search(np.arange(block.start, block.stop)).found


class Compared(NamedTuple):
    """What a comparison of targets with all others found, and the work of it.

    `by_table` are the targets that were left to a table. `n_steps` are the steps of the searches
    for transversals and `n_ended` the searches that ended early.
    """

    found: Found
    by_table: NDArray[np.bool_]
    n_differences: int
    n_steps: float
    n_ended: int


class Transversals:
    """What is needed to compare records with all others."""

    def __init__(self, rows: Rows, asked: Task) -> None:
        self._rows = rows
        self._asked = asked
        self._most_sets = _most_difference_sets(rows.n_columns, asked.max_size)
        self._usable = usable_columns(rows, asked.missing)
        self._offsets = np.concatenate([[0], np.cumsum(rows.n_codes)])
        self._bit_masks = rows.bit_masks()

    @cached_property
    def _reducer(self) -> Reducer:
        return Reducer(self._rows, self._asked)

    def search(self, numbers: NDArray[np.int64], most_nodes: int = 1 << 62) -> Compared:
        """Find the MSUs of some targets; of one with more nodes their number is estimated."""
        from gamekeeper.algorithms.uniques import reduction_kernels as reduction

        rows, asked = self._rows, self._asked
        targets = rows.targets[numbers]
        unique = np.empty(len(numbers), dtype=bool)
        starts, sets = reduction.collect_differences(
            targets, self._usable, rows.present, asked.missing == "wildcard", rows.codes,
            rows.packed, rows.wide, rows.n_high, unique,
        )  # fmt: skip
        many = np.zeros(len(numbers), dtype=bool)
        if self._most_sets is not None:
            many = np.diff(starts) > self._most_sets
        sums = _no_sums(rows, asked.max_size)
        counts = np.zeros((len(numbers), asked.max_size + 1), dtype=np.int32)
        n_sets = np.zeros(len(numbers), dtype=np.int64)
        masks, n_steps, n_ended = reduction.find_transversals(
            targets, unique & ~many, starts, sets, rows.codes, rows.n_high, asked.max_size,
            self._offsets, self._bit_masks, sums, counts, n_sets, most_nodes, asked.listing,
        )  # fmt: skip
        # A target that is left to the table has no list in the first piece.
        pieces: list[Listed] = [
            (numbers[~many], masks.astype(mask_type(rows.n_columns), copy=False))
        ]
        for i in np.flatnonzero(many):
            table = np.zeros((1, 1 << rows.n_high), dtype=np.uint64)
            reduction.mark_differences(table, starts[i : i + 2], sets, rows.n_columns)
            reduction.close_tables(table, rows.n_high)
            own = numbers[i : i + 1]
            unique[i : i + 1], n_sets[i : i + 1], counts[i : i + 1], masks = self._reducer.reduce(
                table, own, sums
            )
            pieces.append((own, masks))
        found = Found(unique, counts, n_sets, sums, pieces if asked.listing else [])
        return Compared(found, many, int(starts[-1]), n_steps, n_ended)


def _most_difference_sets(n_columns: int, max_size: int) -> int | None:
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
    return replace(
        rows,
        codes=np.ascontiguousarray(rows.codes[:, complete]),
        packed=rows.packed[complete],
        present=rows.present[complete],
        targets=rows.targets[complete[rows.targets]],
        slots=rows.slots[complete],
        records=rows.records[complete[rows.targets]],
    )
