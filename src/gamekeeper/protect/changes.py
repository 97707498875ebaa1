"""Where a file was changed, cell by cell, and never what was there.

A variable is recoded, or some of its cells are changed, or both. Cells are kept as one bit per
record of the input, so that a million records and ten variables take a little over a megabyte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.data.coding.recode import Recode
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    import pyarrow as pa

Bits = NDArray[np.uint8]
"""Truths of records, eight to a byte as `numpy.packbits` has them."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VariableChange:
    """What was done to a variable.

    Attributes
    ----------
    recode
        Which new code each code of the input became; None where it was not recoded.
    changed, suppressed
        Records whose cell got another value or none, and those whose cell is shown as suppressed. A
        cell that was missing before may be shown as suppressed, but is no change and is not counted.
        A recode alone changes no cell in this sense.
    """

    recode: Recode | None = None
    changed: Bits | None = None
    suppressed: Bits | None = None

    @classmethod
    def of_cells(
        cls,
        changed: NDArray[np.bool_] | None = None,
        *,
        suppressed: NDArray[np.bool_] | None = None,
    ) -> VariableChange:
        """Return a change of some cells, given as one truth per record.

        What is suppressed is changed, unless what was changed is told as well.

        Examples
        --------
        >>> change = VariableChange.of_cells(suppressed=np.array([True, False, True]))
        >>> change.n_changed, change.n_suppressed
        (2, 2)
        """
        if changed is None:
            changed = suppressed
        return cls(
            None,
            None if changed is None else np.packbits(changed),
            None if suppressed is None else np.packbits(suppressed),
        )

    @property
    def n_changed(self) -> int:
        """How many cells have another value, or none any more."""
        return _count(self.changed)

    @property
    def n_suppressed(self) -> int:
        """How many cells were suppressed."""
        if self.suppressed is None or self.changed is None:
            return 0
        return _count(self.suppressed & self.changed)

    def __repr__(self) -> str:
        coarser = "" if self.recode is None else f"{len(self.recode.words) - 1} categories, "
        return f"VariableChange({coarser}{count_of(self.n_changed, 'cell')} changed)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ChangeLog:
    """Where a file was changed.

    Attributes
    ----------
    n_records
        How many records the input has.
    variables
        What was done to each variable (or numeric column) that was changed at all.
    records
        The places in the input of the records that are left, in their order; None where all are.

    Examples
    --------
    >>> stars = VariableChange.of_cells(suppressed=np.array([True, False]))
    >>> ChangeLog(2, {"age": stars})
    ChangeLog(2 records, 1 variable changed, 1 cell suppressed)
    """

    n_records: int
    variables: Mapping[str, VariableChange] = field(default_factory=dict[str, VariableChange])
    records: NDArray[np.int64] | None = None

    @property
    def n_left(self) -> int:
        """How many records are left."""
        return self.n_records if self.records is None else len(self.records)

    @property
    def n_suppressed(self) -> int:
        """How many cells were suppressed."""
        return sum(change.n_suppressed for change in self.variables.values())

    @property
    def n_changed(self) -> int:
        """How many cells have another value, or none any more."""
        return sum(change.n_changed for change in self.variables.values())

    def suppressed(self, variable: str) -> NDArray[np.bool_]:
        """Return whether the cell of a variable was suppressed, for each record that is left."""
        change = self.variables.get(variable)
        return self._left(None if change is None else change.suppressed)

    def changed(self, variable: str) -> NDArray[np.bool_]:
        """Return whether the cell of a variable was changed, for each record that is left."""
        change = self.variables.get(variable)
        return self._left(None if change is None else change.changed)

    def then(self, later: ChangeLog) -> ChangeLog:
        """Return the log of two steps, one after the other; the later one began where this ended."""
        assert later.n_records == self.n_left, "the later log is of another file"
        made = dict(self.variables)
        for name, change in later.variables.items():
            first = made.get(name, VariableChange())
            made[name] = VariableChange(
                _composed(first.recode, change.recode),
                self._joined(first.changed, change.changed),
                self._joined(first.suppressed, change.suppressed),
            )
        records = self.records
        if later.records is not None:
            records = later.records if records is None else records[later.records]
        return ChangeLog(self.n_records, made, records)

    def cells(self) -> pa.Table:
        """Return one row per changed cell: the record of the input from 1, the variable, and how.

        Examples
        --------
        >>> stars = VariableChange.of_cells(suppressed=np.array([False, True]))
        >>> ChangeLog(2, {"age": stars}).cells().to_pylist()
        [{'record': 2, 'variable': 'age', 'change': 'suppressed'}]
        """
        import pyarrow as pa

        records: list[NDArray[np.int64]] = []
        names: list[str] = []
        hows: list[str] = []

        def add(bits: NDArray[np.bool_], name: str, how: str) -> None:
            found = np.flatnonzero(bits)
            records.append(found + 1)
            names.extend([name] * len(found))
            hows.extend([how] * len(found))

        for name, change in self.variables.items():
            stars = self._whole(change.suppressed)
            changed = self._whole(change.changed)
            add(stars & changed, name, "suppressed")
            add(stars & ~changed, name, "missing before, shown as suppressed")
            add(changed & ~stars, name, "another value")
            if change.recode is not None:
                hows.append("every cell recoded")
                names.append(name)
                records.append(np.zeros(1, dtype=np.int64))
        if self.records is not None:
            left_out = np.ones(self.n_records, dtype=np.bool_)
            left_out[self.records] = False
            add(left_out, "", "record left out")
        whole = np.concatenate([*records, np.zeros(0, dtype=np.int64)])
        numbers = pa.array(whole, mask=whole == 0)
        columns = {"record": numbers, "variable": pa.array(names, pa.string())}
        return pa.table({**columns, "change": pa.array(hows, pa.string())})

    def _whole(self, bits: Bits | None) -> NDArray[np.bool_]:
        if bits is None:
            return np.zeros(self.n_records, dtype=np.bool_)
        return np.unpackbits(bits, count=self.n_records).astype(np.bool_)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per variable: numbers of cells and categories, no places and no values."""
        return [
            {
                "variable": name,
                "recoded": change.recode is not None,
                "categories": None if change.recode is None else len(change.recode.words) - 1,
                "suppressed": change.n_suppressed,
                "changed": change.n_changed,
                "changed_share": change.n_changed / max(self.n_records, 1),
            }
            for name, change in self.variables.items()
        ]

    def __repr__(self) -> str:
        left_out = self.n_records - self.n_left
        without = f", {left_out:,} left out" if left_out else ""
        return (
            f"ChangeLog({count_of(self.n_records, 'record')}{without},"
            f" {count_of(len(self.variables), 'variable')} changed,"
            f" {count_of(self.n_suppressed, 'cell')} suppressed)"
        )

    def _left(self, bits: Bits | None) -> NDArray[np.bool_]:
        every = self._whole(bits)
        return every if self.records is None else every[self.records]

    def _joined(self, first: Bits | None, later: Bits | None) -> Bits | None:
        if later is None or self.records is None:
            return later if first is None else first if later is None else first | later
        every = np.zeros(self.n_records, dtype=np.bool_)
        every[self.records] = np.unpackbits(later, count=self.n_left).astype(np.bool_)
        made = np.packbits(every)
        return made if first is None else first | made


def _composed(first: Recode | None, later: Recode | None) -> Recode | None:
    if first is None or later is None:
        return later if first is None else first
    return Recode(first.variable, later.codes[first.codes], later.words, later.name)


def _count(bits: Bits | None) -> int:
    return 0 if bits is None else int(np.bitwise_count(bits).sum())
