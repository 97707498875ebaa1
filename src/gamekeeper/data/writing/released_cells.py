"""Cells of a released file: those of the original, changed ones replaced, and suppressed ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.arrow import pa, pc
from gamekeeper.budget import memory_budget
from gamekeeper.data.reading import columns
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, quoted

Bools = NDArray[np.bool_]


class CellLook(StrEnum):
    """How a suppressed cell looks."""

    EMPTY = "empty"
    CODE = "code"
    USER_MISSING = "user missing"


@dataclass(frozen=True, slots=True)
class SuppressedCells:
    """How suppressed cells look in a release.

    - `look`: empty, a code like any other value, or one that the file declares as missing (SPSS, Stata).
    - `code`: the code; of a user-missing value of Stata a letter, ".s" if it is "s".
    - `label`: what SPSS and Stata show for it.
    """

    look: CellLook = CellLook.EMPTY
    code: str = "-9"
    label: str = "suppressed"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ReleasedColumn:
    """The changes of one column, a place for each record that is released.

    A cell that is neither changed nor suppressed stays as the original has it, down to its spaces;
    unless the column is recoded, when all but missing cells have one of the new words.

    - `name`: the column of the original.
    - `changed`, `suppressed`: which cells have another value, and which were suppressed.
    - `codes`, `texts`: the new codes, and the text of each code; place 0 is a missing cell.
    - `numbers`: new numbers instead of codes.
    - `is_recoded`: whether every cell has a new category.
    - `is_coarse`: whether codes are coarser than the values of the original: a value without a code
      was not looked at, and is released only if it means missing.
    """

    name: str
    changed: Bools
    suppressed: Bools
    codes: NDArray[np.int64] | None = None
    texts: Sequence[str] = ()
    numbers: NDArray[np.float64] | None = None
    is_recoded: bool = False
    is_coarse: bool = False

    @property
    def replaced(self) -> Bools:
        """Which cells get another value; suppressed ones are not among them."""
        if self.is_recoded and self.codes is not None:
            return (self.codes != 0) & ~self.suppressed
        return self.changed & ~self.suppressed

    @property
    def without(self) -> Bools:
        """Which cells have no category: only a cell that means missing may stay there."""
        if (self.is_recoded or self.is_coarse) and self.codes is not None:
            return (self.codes == 0) & ~self.suppressed
        return np.zeros(len(self.suppressed), np.bool_)

    def __repr__(self) -> str:
        return f"ReleasedColumn({quoted([self.name])}, {int(self.replaced.sum()):,} cells)"


_ROWS = 1 << 16
_PART = 1 << 29
"""Bytes of a release that are put in order at once."""


class CellReplacer:
    """Replaces cells of one column, batch by batch."""

    def __init__(
        self,
        column: ReleasedColumn,
        kind: pa.DataType,
        decimal: str,
        stars: SuppressedCells,
        missing: Collection[str] = (),
    ) -> None:
        self.column = column
        self._decimal = decimal
        self._stars = stars
        self._missing = missing
        self._replaced, self._without = column.replaced, column.without
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        self._star = stars.code if stars.look == CellLook.CODE else None
        self.kind = self._fitting(kind)

    def _fitting(self, kind: pa.DataType) -> pa.DataType:
        """Return the type of the column afterwards: its own if it holds the new values, else wider."""
        column = self.column
        if columns.is_text(kind):
            return kind
        has_stars = bool(column.suppressed.any()) and self._star is not None
        star = columns.number_of(self._star or "0", ".")
        is_number = columns.kind_of(kind) is columns.ColumnKind.NUMBER
        if column.is_recoded or (has_stars and (star is None or not is_number)):
            return pa.string()
        if not is_number or pa.types.is_floating(kind):
            return kind
        numbers = self._new_numbers()
        if has_stars:
            numbers = np.append(numbers, float(star or 0))
        if not pa.types.is_integer(kind):
            return pa.float64() if len(numbers) else kind
        if not np.array_equal(numbers, np.round(numbers)):
            return pa.float64()
        least, most = (numbers.min(), numbers.max()) if len(numbers) else (0, 0)
        width = kind.bit_width
        low = -(2.0 ** (width - 1)) if pa.types.is_signed_integer(kind) else 0.0
        high = 2.0 ** (width - 1 if pa.types.is_signed_integer(kind) else width) - 1
        return kind if low <= least and most <= high else pa.int64()

    def _new_numbers(self) -> NDArray[np.float64]:
        column = self.column
        if column.numbers is not None:
            return column.numbers[column.replaced]
        assert column.codes is not None
        used = np.unique(column.codes[column.replaced])
        return columns.floats_of(column.texts, self._decimal)[used]

    def replace(self, cells: pa.Array, first: int) -> pa.Array:
        """Return cells of released records, the first of which has a number, as they are released."""
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        rows = slice(first, first + len(cells))
        replaced = self._replaced[rows]
        suppressed = self.column.suppressed[rows]
        if self._star is not None:
            self._require_free(cells.filter(pa.array(~suppressed)))
        if cells.type != self.kind:
            cells = self._turned(cells)
        new = self._values(rows, replaced)
        made = pc.replace_with_mask(cells, pa.array(replaced), new)
        without = self._without[rows]
        if without.any():
            # A value that has no new category is not released as it was; one that means missing is.
            known = pa.array(["", *self._missing], pa.large_string())
            texts = pc.utf8_trim_whitespace(cells.cast(pa.large_string()))
            value = pc.invert(pc.is_in(texts, known))
            emptied = pc.and_(pa.array(without), value)
            made = pc.if_else(emptied, pa.scalar(None, self.kind), made)
        star = pa.scalar(None, self.kind)
        if self._star is not None:
            star = pa.array([self._star]).cast(self.kind)[0]
        return pc.if_else(pa.array(suppressed), star, made)

    def _turned(self, cells: pa.Array) -> pa.Array:
        if columns.is_text(self.kind):
            return pa.array(columns.value_texts(cells), self.kind)
        return cells.cast(self.kind)

    def _values(self, rows: slice, replaced: NDArray[np.bool_]) -> pa.Array:
        column = self.column
        if column.numbers is not None:
            numbers = column.numbers[rows][replaced]
            if not columns.is_text(self.kind):
                return pa.array(numbers).cast(self.kind)
            return pa.array([self._text(float(number)) for number in numbers], self.kind)
        assert column.codes is not None
        codes = column.codes[rows][replaced]
        if columns.is_text(self.kind):
            return pa.array(list(column.texts), self.kind).take(pa.array(codes))
        if columns.kind_of(self.kind) is columns.ColumnKind.NUMBER:
            return pa.array(columns.floats_of(column.texts, self._decimal)[codes]).cast(self.kind)
        return pa.array([column.texts[code] for code in codes.tolist()]).cast(self.kind)

    def _text(self, number: float) -> str | None:
        text = columns.value_text(number)
        return None if text is None else text.replace(".", self._decimal)

    def _require_free(self, cells: pa.Array) -> None:
        """Refuse a code for suppressed cells that some other cell has."""
        if not self.column.suppressed.any():
            return
        if columns.is_text(cells.type):
            taken = pc.any(pc.equal(cells, pa.scalar(self._star, cells.type))).as_py()
        else:
            taken = self._star in columns.value_texts(pc.unique(cells))
        if taken:
            raise code_is_taken(self.column.name, self._stars.code)


def code_is_taken(name: str, code: str) -> InputError:
    """Return the error for a code of suppressed cells that is a value of the file."""
    return InputError(
        Reason.BAD_OPTION,
        f"Suppressed cells of {quoted([name])} were to have the code {quoted([code])}.",
        "Other cells of the column have it already.",
        "Choose a code that the column does not have, or leave suppressed cells empty.",
    )


def released_batches(
    source: Source,
    names: Sequence[str],
    replacers: Mapping[str, CellReplacer],
    records: NDArray[np.int64] | None,
    order: NDArray[np.int64] | None,
    n_released: int,
) -> Iterator[pa.RecordBatch]:
    """Read the original and yield what is released of it, in their order or in one that is given.

    For another order the file is read once for each part of the release, so that only a part of it is
    in memory, and nothing of it in a file aside.
    """
    in_turn = partial(_in_turn, source, names, replacers, records, n_released)
    if order is None:
        yield from in_turn()
        return
    first = next(in_turn(), None)
    n_bytes = 1 if first is None else max(1, first.nbytes // first.num_rows)
    # Whole batches, so that the bytes of a file do not depend on the machine.
    at_once = _ROWS * max(1, min(_PART, (memory_budget() or _PART) // 8) // (n_bytes * _ROWS))
    ranks = np.empty(n_released, dtype=np.int64)
    ranks[order] = np.arange(n_released)
    for start in range(0, max(n_released, 1), at_once):
        parts: list[pa.RecordBatch] = []
        places: list[NDArray[np.int64]] = []
        done = 0
        for batch in in_turn():
            own = ranks[done : done + batch.num_rows]
            done += batch.num_rows
            here = np.flatnonzero((start <= own) & (own < start + at_once))
            parts.append(batch.take(pa.array(here)))
            places.append(own[here])
        if parts:
            part = pa.Table.from_batches(parts).unify_dictionaries()
            turned = part.take(pa.array(np.argsort(np.concatenate(places))))
            yield from turned.combine_chunks().to_batches(max_chunksize=_ROWS)


def _in_turn(
    source: Source,
    names: Sequence[str],
    replacers: Mapping[str, CellReplacer],
    records: NDArray[np.int64] | None,
    n_released: int,
) -> Iterator[pa.RecordBatch]:
    read = released = 0
    for batch in source.batches(names):
        if records is None:
            kept = batch
        else:
            stop = int(np.searchsorted(records, read + batch.num_rows))
            kept = batch.take(pa.array(records[released:stop] - read))
        read += batch.num_rows
        arrays: list[Any] = []
        for name, cells in zip(names, kept.columns, strict=True):
            replacer = replacers.get(name)
            arrays.append(cells if replacer is None else replacer.replace(cells, released))
        released += kept.num_rows
        if kept.num_rows:
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))
    if released != n_released:
        raise InputError(
            Reason.STALE,
            f"A release of {source.words} was to be written.",
            f"It has {count_of(released, 'record')} to release, and {n_released:,} were protected.",
            "The file changed since it was read: do it again.",
        )
