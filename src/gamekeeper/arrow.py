"""Arrow tables made of rows; Arrow itself is imported when the first of its names is asked for.

Arrow takes longer to import than most commands to answer. So whoever makes tables imports `pa` from
here, at the top as anything else, and pays for it where a table is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["arrow_table", "pa", "parquet", "pc", "table_of"]

Line = TypeVar("Line")


class _Later(ModuleType):
    """A module that is imported when the first of its names is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as parquet
else:
    pa, pc = _Later("pyarrow"), _Later("pyarrow.compute")
    parquet = _Later("pyarrow.parquet")


def arrow_table(columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """Return rows as a table; each column is given with the name of its Arrow type.

    >>> arrow_table({"form": "string", "year": "int64"}, [("census", 2031)]).to_pylist()
    [{'form': 'census', 'year': 2031}]
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    kinds = map(pa.type_for_alias, columns.values())
    arrays = [pa.array(column, kind) for column, kind in zip(cells, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(columns))


def table_of(
    lines: Iterable[Line], columns: Mapping[str, tuple[str, Callable[[Line], Any]]]
) -> pa.Table:
    """Return a table with a row per line; each column has its Arrow type, and its cell of a line.

    >>> table_of(["census"], {"form": ("string", str), "letters": ("int64", len)}).to_pylist()
    [{'form': 'census', 'letters': 6}]
    """
    every = list(lines)
    kinds = {name: kind for name, (kind, _) in columns.items()}
    return arrow_table(kinds, [[cell(line) for _, cell in columns.values()] for line in every])
