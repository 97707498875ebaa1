"""The different keys of a file, brought to this machine: what attacks on classes work on elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gamekeeper.data.engine.bringing import FEWER_KEYS, require_brought
from gamekeeper.data.engine.gate import RECORD

if TYPE_CHECKING:
    from gamekeeper.data.keys.key_table import KeyTable


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DistinctKeys:
    """One row for each different key, in the order in which they first occur in the file.

    Attributes
    ----------
    codes
        The codes of each key.
    counts
        How many records have it.
    first
        The place in the file, from 0, of the first that has it; rising.
    """

    codes: npt.NDArray[np.unsignedinteger]
    counts: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return f"DistinctKeys({len(self.counts):,} keys)"


def distinct_keys(table: KeyTable) -> DistinctKeys:
    """Return the different keys of the counted records.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> found = distinct_keys(count_keys(coded_from_codes([[2], [1], [2]], ["sex"]), ["sex"]))
    >>> found.codes.tolist(), found.counts.tolist(), found.first.tolist()
    ([[2], [1]], [2, 1], [0, 1])
    """
    counted, engine = table.counted, table.coded.engine
    names = counted.packing.names
    # Twice, as they are put in order.
    row_bytes = 2 * (8 * (len(names) + 2) + len(table.keys))
    require_brought(engine, table.n_classes, row_bytes, "different keys", FEWER_KEYS)
    sums = ["COUNT(*) AS n", f"MIN({RECORD}) AS first_record"]
    found = engine.query(counted.grouped(sums, RECORD))
    numbers = [found.column(name).to_numpy() for name in names]
    first = found.column("first_record").to_numpy()
    order = np.argsort(first)
    return DistinctKeys(
        counted.packing.unpack([column[order] for column in numbers]),
        found.column("n").to_numpy()[order],
        first[order],
    )
