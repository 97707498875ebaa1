"""Cells that are Python objects as texts: one type of value in one, another in the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.data.reading.values import value_text

if TYPE_CHECKING:
    import pyarrow as pa


class OddCells(Exception):  # noqa: N818 - what was found; who reads the column says what is wrong
    """Cells that are no values, by the names of their types."""

    def __init__(self, types: Iterable[str]) -> None:
        super().__init__(f"objects of type {', '.join(sorted(types))}")


def plain_text(cell: Any) -> str | None:
    """Return the text of one object; raise TypeError where it has none.

    Examples
    --------
    >>> plain_text(np.int64(3)), plain_text(" x ")
    ('3', 'x')
    """
    return value_text(cell.item() if isinstance(cell, np.generic) else cell)


def cell_texts(cells: Iterable[Any], nulls: Iterable[bool]) -> pa.Array:
    """Return cells as an array of texts; raise `OddCells` where some are no values."""
    import pyarrow as pa

    shown = (None if is_null else cell for cell, is_null in zip(cells, nulls, strict=True))
    return pa.array(texts_of(shown), pa.string())


def texts_of(
    values: Iterable[Any], text: Callable[[Any], str | None] = plain_text
) -> list[str | None]:
    """Return the text of each value, None for none; raise `OddCells` where some have none."""
    texts: list[str | None] = []
    odd: set[str] = set()
    for value in values:
        try:
            texts.append(None if value is None else text(value))
        except TypeError:
            odd.add(type(value).__name__)
    if odd:
        raise OddCells(odd)
    return texts
