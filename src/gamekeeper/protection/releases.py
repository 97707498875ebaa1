"""A protected file as it is written, its records in an order drawn by lot; and verbatim copies in it.

Who stands beside whom tells of households and streets, so that the order of the original would undo
what was protected. The order that is written comes from the seed, the original, what was made of it
and the columns that are released: it can be drawn again by whoever has the recipe and by nobody
else, be the seed ever so easy to guess, and two releases of the same people are in different
orders.

Copies are records of the release that some record of the original is equal to, in all columns that
both have, in the key variables, and in these and the sensitive ones: whoever's record it is, and
also where records are nobody's. A text is equal to itself, spaces around it aside, a number however
its file writes it (25 and '25.0'), a missing cell to a missing one. Both files are read once, batch
by batch. A record is kept as 128 bits that are mixed from its texts, so that two different ones
pass for equal in less than one of 10^20 pairs. Memory: 48 bytes a record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation.counter_streams import CounterStream
from gamekeeper.arrow import pa
from gamekeeper.data.reading.columns import Column, ColumnKind, number_of, value_texts
from gamekeeper.data.reading.source import Source
from gamekeeper.data.writing.microdata_file import WrittenRelease, write_release
from gamekeeper.data.writing.released_cells import ReleasedColumn, SuppressedCells
from gamekeeper.errors import InputError, Reason
from gamekeeper.protection.recipe import Recipe
from gamekeeper.protection.step import Protected, Setting
from gamekeeper.wording import count_of, quoted

_KEPT, _SHUFFLED = "kept", "shuffled"


def released_columns(
    protected: Protected,
    *,
    columns: Mapping[str, str] | None = None,
    coarse: Collection[str] = (),
) -> list[ReleasedColumn]:
    """Return the columns of a protected file, after all its steps, that differ from the original.

    `columns` has by variable the column of the original, where it is called otherwise there. Codes
    of the variables in `coarse` are coarser than the values of the original, as those of a scenario
    are. Where a cell of such a variable got another value, every cell is released as it is coded,
    since the few would be told by their looks. A value that no category takes is not released.
    """
    log, table = protected.log, protected.table
    named = columns or {}
    made: list[ReleasedColumn] = []
    for name in dict.fromkeys((*log.variables, *(n for n in coarse if n in table.codebook))):
        change = log.variables.get(name)
        recode = None if change is None else change.recode
        own = name if recode is None else recode.new_name
        is_coded = own in table.codebook
        if not is_coded and own not in table.numbers:
            continue
        changed, suppressed = log.changed(name), log.suppressed(name)
        is_coarse = name in coarse
        is_recoded = recode is not None or (is_coarse and bool((changed & ~suppressed).any()))
        if not (is_recoded or is_coarse or changed.any() or suppressed.any()):
            continue
        # A number that is coded as well is written as the number that it is.
        is_number = own in table.numbers and not is_recoded
        texts = ()
        if is_coded:
            variable = table.codebook[own]
            texts = variable.words if is_recoded else variable.values
        made.append(
            ReleasedColumn(
                named.get(name, name),
                changed,
                suppressed,
                None if is_number or not is_coded else table.codes(own).astype(np.int64),
                texts,
                table.number(own) if is_number else None,
                is_recoded,
                is_coarse,
            )
        )
    return made


def write_protected(
    source: Source,
    path: str | Path,
    made: Protected,
    setting: Setting,
    *,
    columns: Mapping[str, str],
    leave_out: Collection[str] = (),
    suppressed: SuppressedCells = SuppressedCells(),  # noqa: B008 - it is frozen
    keep_order: bool = False,
    replace: bool = False,
) -> tuple[WrittenRelease, dict[str, str]]:
    """Write a protected file, shuffled unless its order is kept; return also what a recipe keeps of it."""
    names = [name for name in source.names if name not in set(leave_out)]
    kept = {
        "fingerprint": made.table.fingerprint,
        "order": _KEPT if keep_order else _SHUFFLED,
        "columns": sha256(repr(names).encode("utf-8", "surrogatepass")).hexdigest()[:16],
    }
    order = _order(setting.seed, made.before.fingerprint, kept, made.log.n_left)
    written = write_release(
        source,
        path,
        released_columns(made, columns=columns, coarse=setting.sinks),
        records=made.log.records,
        order=order,
        n_released=made.log.n_left,
        leave_out=leave_out,
        suppressed=suppressed,
        replace=replace,
    )
    return written, {**kept, "sha256": written.sha256}


def order_of_release(recipe: Recipe, released: str, n_records: int) -> NDArray[np.int64]:
    """Return which record of the original each of a release is; `released` is the SHA-256 of its bytes."""
    found = do = ""
    if recipe.seed is None or recipe.output.get("order") not in (_KEPT, _SHUFFLED):
        found = "It does not say in which order a release was written."
        do = "Give the one that was written with the release (protect apply --recipe)."
    elif recipe.output.get("sha256") != released:
        found = "It was written with another release."
        do = "Give the one that was written with this one, or name a column of both files (--id)."
    elif recipe.n_records != n_records:
        found = "Some records were left out, and which is not told by it."
        do = "Name a column of both files that says which record is whose (--id)."
    if found:
        raise InputError(
            Reason.BAD_OPTION, "Released records were to be told by a recipe.", found, do
        )
    order = _order(recipe.seed or 0, recipe.fingerprint, recipe.output, n_records)
    return np.arange(n_records) if order is None else order


def _order(
    seed: int, original: str, output: Mapping[str, str], n_released: int
) -> NDArray[np.int64] | None:
    """Return which record comes first, second and so on; None where the order is kept."""
    if output["order"] == _KEPT:
        return None
    told = ("order of the release", original, output.get("fingerprint", ""), output["columns"])
    return CounterStream(seed, told).order(np.arange(n_released))


Marks = NDArray[np.uint64]
Pairs = Sequence[tuple[str, str]]
"""Columns of the original, and what they are called in the release."""
_STEPS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9], dtype=np.uint64)
_SHIFT = np.uint64(29)
_WORD = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Copies:
    """How many of `n_records` released records are copies, in the `n_columns` that both files have.

    `whole`, `on_keys`, `on_sensitive`: equal in all columns, in the keys, in the keys and the
    sensitive columns; None where none of the latter is in both. Columns that only number the
    released records (`numbering`) are left out of all.
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
    order = np.lexsort((old[:, 1], old[:, 0]))
    ranked = old[order]
    at = np.minimum(np.searchsorted(ranked[:, 0], new[:, 0]), max(len(ranked) - 1, 0))
    return int((ranked[at] == new).all(axis=1).sum()) if len(ranked) else 0
