"""Counts of cells of margins, asked of the engine that has the records: many margins in one query.

Only how many cells have how many records comes here, a few hundred rows for each margin. Each part of
the query groups the different keys by its own columns; written as parts of a union and not as grouping
sets, which would first copy every key once for each margin.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gamekeeper.data.keys.key_table import KeyTable

_AT_ONCE = 16


class Marginals:
    """The margins of the keys of a file.

    Parameters
    ----------
    table
        The counted keys.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> coded = coded_from_codes([[1, 1], [1, 2], [2, 2], [1, 2]], ["age", "sex"])
    >>> (sizes, cells), (all_sizes, _) = Marginals(count_keys(coded, ["age", "sex"])).of([1, 3])
    >>> sizes.tolist(), cells.tolist(), all_sizes.tolist()
    ([1, 3], [1, 1], [1, 2])
    """

    def __init__(self, table: KeyTable) -> None:
        counted, self._engine = table.counted, table.coded.engine
        self._columns = list(counted.packing.columns)
        columns = ", ".join(self._columns)
        # Keys by their variables; the packed ones would have to be taken apart by every query.
        self._relation = self._engine.create(
            f"SELECT {columns}, COUNT(*) AS n FROM {counted.select(*self._columns)}"
            f" GROUP BY {columns}"
        )
        weakref.finalize(self, self._engine.drop, self._relation).atexit = False

    def ranges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the lowest and the highest code of each key variable."""
        ends = ", ".join(
            f"{end}({column}) AS {end}_{column}"
            for end in ("MIN", "MAX")
            for column in self._columns
        )
        found = self._engine.query(f"SELECT {ends} FROM {self._relation}")
        numbers = np.array([column[0].as_py() for column in found.columns], np.int64)
        return numbers[: len(self._columns)], numbers[len(self._columns) :]

    def of(self, masks: Sequence[int]) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Return, for each set of variables, the sizes of its cells and how many have each.

        A set is given by its bits and is not empty. Sizes rise.
        """
        made: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
        for start in range(0, len(masks), _AT_ONCE):
            part = masks[start : start + _AT_ONCE]
            found = self._engine.query(
                " UNION ALL ".join(self._sizes_sql(place, mask) for place, mask in enumerate(part))
            )
            places, sizes, cells = (column.to_numpy() for column in found.columns)
            for place in range(len(part)):
                own = np.flatnonzero(places == place)
                own = own[np.argsort(sizes[own])]
                made.append((sizes[own], cells[own]))
        return made

    def _sizes_sql(self, place: int, mask: int) -> str:
        columns = [column for bit, column in enumerate(self._columns) if mask >> bit & 1]
        cells = f"SELECT CAST(SUM(n) AS BIGINT) AS n FROM {self._relation} GROUP BY {', '.join(columns)}"
        return (
            f"SELECT {place} AS place, n, COUNT(*) AS cells FROM ({cells}) AS m{place} GROUP BY n"
        )
