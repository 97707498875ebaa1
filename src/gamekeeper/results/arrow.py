"""Lines of a result as an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_table(columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """Return rows as a table; each column is given with the name of its Arrow type.

    Examples
    --------
    >>> arrow_table({"form": "string", "year": "int64"}, [("census", 2031)]).to_pylist()
    [{'form': 'census', 'year': 2031}]
    """
    import pyarrow as pa

    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    kinds = map(pa.type_for_alias, columns.values())
    arrays = [pa.array(column, kind) for column, kind in zip(cells, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(columns))
