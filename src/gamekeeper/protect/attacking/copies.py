"""Verbatim copies: released records that are word for word as a record of the original.

Counted are records of the release that some record of the original is equal to, in all columns that both
have, in the key variables, and in these and the sensitive ones: whoever's record it is, and also where
records are nobody's. A text is equal to itself, spaces around it aside, a number however its file writes
it (25 and '25.0'), a missing cell to a missing one.

Both files are read once, batch by batch. A record is kept as 128 bits that are mixed from its texts, so
that two different ones pass for equal in less than one of 10^20 pairs. Memory: 48 bytes a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.reading.column import Column, ColumnKind
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.data.reading.source import Source
from gamekeeper.data.reading.values import value_texts
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import pyarrow as pa

Marks = NDArray[np.uint64]
Pairs = Sequence[tuple[str, str]]
"""Columns of the original, and what they are called in the release."""

_STEPS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9], dtype=np.uint64)
_SHIFT = np.uint64(29)
_WORD = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Copies:
    """How many released records are copies.

    Attributes
    ----------
    n_records, n_columns
        Of how many released records, and in how many columns that both files have.
    whole, on_keys, on_sensitive
        Equal in all columns, in the keys, in the keys and the sensitive columns; None where none of
        the latter is in both files.
    numbering
        Columns that only number the released records, and were left out of all columns.
    """

    n_records: int
    n_columns: int
    whole: int
    on_keys: int
    on_sensitive: int | None
    numbering: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What was counted, in words."""
        n = self.n_records
        who = f"{self.whole:,} of {count_of(n, 'released record')} are"
        if self.whole == n:
            who = f"The release is a copy: all of its {count_of(n, 'record')} are"
        columns = count_of(self.n_columns, "column")
        aside = ""
        if self.numbering:
            number = "numbers" if len(self.numbering) == 1 else "number"
            aside = f", besides {quoted(self.numbering)}, which only {number} records"
        beside = ""
        if self.on_sensitive is not None:
            beside = f", and on keys and sensitive values {self.on_sensitive:,}"
        return (
            f"{who} word for word in the original ({columns} that both files have{aside}); on the keys"
            f" alone {self.on_keys:,} are{beside}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per figure, as the figures of an attack have them."""
        counts = {
            "copies": self.whole,
            "copies_on_keys": self.on_keys,
            "copies_on_keys_and_sensitive": self.on_sensitive,
        }
        return [
            {"measure": name, "before": None, "after": float(count), "kind": "exact",
             "note": f"of {count_of(self.n_records, 'released record')}"}
            for name, count in counts.items()
            if count is not None
        ]  # fmt: skip


def count_copies(
    original: Source,
    released: Source,
    whole: Pairs,
    keys: Pairs,
    sensitive: Pairs,
    decimal: str = ".",
) -> Copies:
    """Count the released records that are equal to one of the original."""
    groups = [whole, keys, [*keys, *sensitive]]
    sides = [
        _marks(source, [[pair[side] for pair in own] for own in groups], decimal)
        for side, source in enumerate((original, released))
    ]
    found = [_n_among(new, old) for old, new in zip(*sides, strict=True)]
    n = len(sides[1][0])
    return Copies(n, len(whole), found[0], found[1], found[2] if sensitive else None)


def numbering_columns(source: Source, names: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers, one after the other, each of which one record has."""
    import pyarrow as pa

    blocks: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
    for batch in source.batches(list(names)) if names else ():
        for name in list(blocks):
            try:
                blocks[name].append(batch[name].cast(pa.int64()).to_numpy(zero_copy_only=True))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                # Other texts, fractions or missing cells.
                del blocks[name]
    found: list[str] = []
    for name, own in blocks.items():
        values = np.concatenate([np.zeros(0, dtype=np.int64), *own])
        if len(values) > 1 and values.max() - values.min() == len(values) - 1:
            found += [name] if len(np.unique(values)) == len(values) else []
    return found


def is_readable(source: Source, name: str) -> bool:
    """Tell whether the cells of a column are values at all, and no lists or bytes."""
    return source.column(name).kind is not ColumnKind.OTHER


def _marks(source: Source, groups: Sequence[Sequence[str]], decimal: str) -> list[Marks]:
    """Return for each group of columns two words per record, the same where all texts are equal."""
    columns = list(dict.fromkeys(name for own in groups for name in own))
    described = {name: source.column(name) for name in columns}
    blocks: list[list[Marks]] = [[] for _ in groups]
    for batch in source.batches(columns):
        words = {
            name: _words(batch[name], described[name], source.missing, decimal) for name in columns
        }
        for own, made in zip(groups, blocks, strict=True):
            mark = np.zeros((batch.num_rows, 2), dtype=np.uint64)
            for name in own:
                mark = (mark ^ words[name]) * _STEPS
                mark ^= mark >> _SHIFT
            made.append(mark)
    none = np.zeros((0, 2), dtype=np.uint64)
    return [np.concatenate([none, *own]) for own in blocks]


def _words(cells: pa.Array, column: Column, missing: frozenset[str], decimal: str) -> Marks:
    """Return two words per cell, mixed from its text; of a missing one, nothing."""
    import pyarrow as pa

    if pa.types.is_null(cells.type):
        return np.zeros((len(cells), 2), dtype=np.uint64)
    if pa.types.is_string_view(cells.type):
        cells = cells.cast(pa.large_string())
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    made = np.zeros((len(cells.dictionary) + 1, 2), dtype=np.uint64)
    for place, text in enumerate(value_texts(cells.dictionary, column.digits)):
        if text is not None and text not in missing:
            number = number_of(text, decimal)
            same = text if number is None else str(number)
            made[place] = hash(same) & _WORD, hash(f"\0{same}") & _WORD
    return made[cells.indices.cast(pa.int64()).fill_null(-1).to_numpy()]


def _n_among(new: Marks, old: Marks) -> int:
    """Return how many of the new words are among the old."""
    order = np.lexsort((old[:, 1], old[:, 0]))
    ranked = old[order]
    at = np.minimum(np.searchsorted(ranked[:, 0], new[:, 0]), max(len(ranked) - 1, 0))
    return int((ranked[at] == new).all(axis=1).sum()) if len(ranked) else 0
