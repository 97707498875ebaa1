"""The cells of a column as integers or as numbers, batch by batch.

Codes are given as values are met, because a file is read once; `CellCoder.variable` has them in
their final order, and `CellCoder.order` tells which final code each given one becomes.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gamekeeper.data.coding.codebook import MISSING, CodedVariable, sorted_values
from gamekeeper.data.reading.column import Column, ColumnKind
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.data.reading.values import is_text, kind_of, value_texts

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"


def _as_float(number: Fraction) -> float:
    """Return the nearest float; what is beyond them all is infinite, as it is to Arrow."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


class CellCoder:
    """Gives the values of one column their codes."""

    def __init__(self, column: Column, missing: Collection[str], decimal: str) -> None:
        self.column = column
        self._missing = missing
        self._decimal = decimal
        self._codes: dict[str, int] = {}

    def code(self, cells: pa.Array) -> npt.NDArray[np.int32]:
        """Return the codes of some cells; new values get new codes."""
        import pyarrow as pa

        if pa.types.is_null(cells.type):
            return np.full(len(cells), MISSING, dtype=np.int32)
        given = pa.types.is_dictionary(cells.type)
        if pa.types.is_string_view(cells.type):
            cells = cells.cast(pa.large_string())
        if not given:
            cells = cells.dictionary_encode()
        places = cells.indices.cast(pa.int64() if given else pa.int32()).fill_null(-1).to_numpy()
        met = np.full(len(cells.dictionary) + 1, not given)
        if given:
            # A dictionary may hold values that no cell has: they are no categories.
            met[places] = True
        used = np.flatnonzero(met[:-1])
        texts = value_texts(cells.dictionary.take(pa.array(used)), self.column.digits)
        texts = [None if text in self._missing else text for text in texts]
        new = {text for text in texts if text is not None and text not in self._codes}
        for text in sorted_values(new, self._decimal):
            self._codes[text] = len(self._codes) + 1
        codes = np.zeros(len(cells.dictionary) + 1, dtype=np.int32)
        codes[used] = [MISSING if text is None else self._codes[text] for text in texts]
        return codes[places]

    def variable(self) -> CodedVariable:
        """Return the variable with all values met so far, in their final order."""
        return CodedVariable.of_values(
            self.column.name,
            self._codes,
            labels=self.column.labels,
            label=self.column.label,
            decimal=self._decimal,
            order=self.column.order,
        )

    def order(self, variable: CodedVariable) -> npt.NDArray[np.int64]:
        """Return the final code of each code that was given."""
        final = np.zeros(variable.n_codes, dtype=np.int64)
        for code, value in enumerate(variable.values[1:], 1):
            final[self._codes[value]] = code
        return final


class NumberReader:
    """Reads the cells of one column as numbers and counts what is not one."""

    def __init__(self, name: str, missing: Collection[str], decimal: str) -> None:
        self.name = name
        self.decimal = decimal
        self.n_cells = 0
        self.n_faults = 0
        self._missing = missing
        read = (number_of(value, decimal) for value in missing)
        self._missing_numbers = [_as_float(number) for number in read if number is not None]

    def read(self, cells: pa.Array) -> pa.Array:
        """Return the numbers; none where the cell is missing or is not a number."""
        import pyarrow as pa
        from pyarrow import compute

        self.n_cells += len(cells)
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if is_text(cells.type):
            numbers = self._parse(cells.cast(pa.large_string()))
        elif kind_of(cells.type) is ColumnKind.NUMBER or pa.types.is_null(cells.type):
            numbers = cells.cast(pa.float64(), safe=False)
            numbers = _blanked(numbers, compute.is_nan(numbers))
        else:
            self.n_faults += len(cells) - cells.null_count
            return pa.nulls(len(cells), pa.float64())
        if self._missing_numbers:
            known = pa.array(self._missing_numbers, pa.float64())
            numbers = _blanked(numbers, compute.is_in(numbers, known))
        infinite = compute.invert(compute.is_finite(numbers))
        self.n_faults += compute.sum(infinite).as_py() or 0
        return numbers

    def _parse(self, cells: pa.Array) -> pa.Array:
        import pyarrow as pa
        from pyarrow import compute

        texts = compute.utf8_trim_whitespace(cells)
        none = pa.array(["", *self._missing], pa.large_string())
        texts = _blanked(texts, compute.is_in(texts, none))
        if self.decimal == ",":
            texts = compute.replace_substring(texts, ".", " ")
            texts = compute.replace_substring(texts, ",", ".")
        is_number = compute.match_substring_regex(texts, _NUMBER)
        self.n_faults += compute.sum(compute.invert(is_number)).as_py() or 0
        return compute.if_else(is_number, texts, None).cast(pa.float64())


def _blanked(cells: pa.Array, where: pa.Array) -> pa.Array:
    """Return the cells with nothing where it is said."""
    import pyarrow as pa
    from pyarrow import compute

    return compute.if_else(compute.fill_null(where, False), pa.scalar(None, cells.type), cells)
