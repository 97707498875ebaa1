"""A coded table with other cells in some of its columns, or with some of its records only.

The new table is kept by the same engine. Its fingerprint is that of its content, so that the same
cells have the same one however they came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.data.coding.codebook import Codebook, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable, load_codes


def replace_cells(
    table: CodedTable,
    codes: Mapping[str, NDArray[np.integer[Any]]] | None = None,
    *,
    numbers: Mapping[str, NDArray[np.float64]] | None = None,
    variables: Mapping[str, CodedVariable] | None = None,
    records: ArrayLike | None = None,
) -> CodedTable:
    """Return a table with other codes or numbers in some columns, all else as it was.

    Parameters
    ----------
    table
        The table that is left as it is.
    codes
        By variable its new codes, one per record, places in the words of that variable.
    numbers
        By numeric column its new numbers, one per record.
    variables
        By variable what its new codes mean, where that is not what the old ones meant.
    records
        The places of the records to keep, in their order; all when None. Codes and numbers are those
        of all records.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> table = coded_from_codes([[1, 2], [2, 1]], ["sex", "age"])
    >>> replace_cells(table, {"age": np.array([0, 1])}).matrix().tolist()
    [[1, 0], [2, 1]]
    """
    known = dict(variables or {})
    book = Codebook(tuple(known.get(v.name, v) for v in table.codebook))
    matrix = table.matrix()
    widest = max((v.n_codes for v in book), default=1)
    if widest > np.iinfo(matrix.dtype).max + 1:
        matrix = matrix.astype(np.uint32)
    for name, cells in (codes or {}).items():
        n_codes = book[name].n_codes
        assert int(np.max(cells, initial=0)) < n_codes, "a code has no word"
        matrix[:, table.codebook.names.index(name)] = cells
    columns = [(numbers or {}).get(name, None) for name in table.numbers]
    floats = [
        table.number(name) if cells is None else np.asarray(cells, dtype=np.float64)
        for name, cells in zip(table.numbers, columns, strict=True)
    ]
    if records is not None:
        places = np.asarray(records)
        matrix, floats = matrix[places], [cells[places] for cells in floats]
    relation = load_codes(table.engine, matrix, [v.n_codes for v in book], floats)
    digest = sha256(repr([(v.name, v.words, v.values) for v in book]).encode("utf-8", "replace"))
    digest.update(repr((table.numbers, matrix.shape)).encode("utf-8", "replace"))
    digest.update(np.ascontiguousarray(matrix, dtype="<u4").data)
    for cells in floats:
        digest.update(np.ascontiguousarray(cells, dtype="<f8").data)
    return CodedTable(
        table.engine, relation, book, len(matrix), digest.hexdigest()[:16], table.numbers
    )
