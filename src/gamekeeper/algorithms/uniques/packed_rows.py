"""The distinct rows of a file, sorted and packed for the search for minimal sample uniques.

Records that are equal are one row here: none of them is a sample unique, and one is enough to
agree with others. Columns are ordered by how well they tell records apart, the best first, so that
classes become small early. Codes of up to nine bits are packed six to a word for the comparison of
pairs. Costs a sort; takes 4 bytes per cell and 8 per record and six variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """Return the bit of a column in the index of a set."""
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
    order = _sorted_order(codes, columns, n_codes)
    starts = np.zeros(n_records, dtype=bool)
    starts[0] = True
    sorted_columns: list[NDArray[np.unsignedinteger]] = []
    for variable in columns:
        column = codes[:, variable][order]
        starts[1:] |= column[1:] != column[:-1]
        sorted_columns.append(column)
    first = np.flatnonzero(starts)
    sizes = (
        np.diff(first, append=n_records)
        if counts is None
        else np.add.reduceat(counts[order], first)
    )
    matrix = np.empty((n_columns, len(first)), dtype=np.uint32)
    for number in range(n_columns):
        matrix[number] = sorted_columns[number][first]
        sorted_columns[number] = sorted_columns[number][:0]
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
        records=order[first[targets]].astype(np.int64),
    )


def _most_telling_first(
    codes: NDArray[np.unsignedinteger],
    n_codes: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
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


def _sorted_order(
    codes: NDArray[np.unsignedinteger], columns: NDArray[np.int64], n_codes: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Sort records lexicographically, by as few packed keys as hold the codes."""
    keys: list[NDArray[np.uint64]] = []
    room = 0
    for column in columns:
        bits = max(1, int(n_codes[column] - 1).bit_length())
        if bits > room:
            keys.append(np.zeros(len(codes), dtype=np.uint64))
            room = 64
        keys[-1] <<= np.uint64(bits)
        keys[-1] |= codes[:, column].astype(np.uint64)
        room -= bits
    return np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
