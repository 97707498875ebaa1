"""Long lists, a page at a time: filtered before, sorted here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from gamekeeper.errors import InputError, Reason
from gamekeeper.results.result import Provenance, Result
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    import pyarrow as pa

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted, and in which order.

    Attributes
    ----------
    sort
        The column to sort by; as it comes if empty.
    number
        The page, from 1.
    size
        Lines to a page; None for everything on one.
    """

    sort: str = ""
    descending: bool = False
    number: int = 1
    size: int | None = None


EVERYTHING = Page()
"""All lines, as they come."""


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """One page of a list; `total` counts the lines of all pages."""

    what: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    first: int
    number: int
    n_pages: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "list": self.what,
            "total": self.total,
            "from": min(self.first + 1, self.total),
            "to": self.first + len(self.rows),
            "page": self.number,
            "pages": self.n_pages,
        }

    def to_arrow(self) -> pa.Table:
        """Return the lines of the page; a column with values of several types has texts."""
        import pyarrow as pa

        kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
        made = [pa.array(cells, kinds[kind]) for kind, cells in self._typed()]
        return pa.Table.from_arrays(made, names=list(self.columns))

    def lines(self) -> list[tuple[Cell, ...]]:
        """Return the lines as the Arrow table has them, without waiting for Arrow."""
        return list(zip(*(cells for _, cells in self._typed()), strict=True))

    def _typed(self) -> list[tuple[type, list[Cell]]]:
        """Return the columns with their types; one of several types has texts."""
        return [_typed([row[number] for row in self.rows]) for number in range(len(self.columns))]


def _typed(cells: list[Cell]) -> tuple[type, list[Cell]]:
    given = [cell for cell in cells if cell is not None]
    if given and all(type(cell) is bool for cell in given):
        return bool, cells
    if given and all(type(cell) is int and abs(cell) < 2**63 for cell in given):
        return int, cells
    if given and all(type(cell) in (int, float) for cell in given):
        return float, [None if cell is None else float(cell) for cell in cells]
    return str, [None if cell is None else str(cell) for cell in cells]


def make_listing(
    what: str, columns: Sequence[str], rows: Iterable[tuple[Cell, ...]], page: Page
) -> Listing:
    """Sort lines and take a page of them.

    Numbers come before texts, and lines without a value last. An empty list has one page.

    Raises
    ------
    InputError
        If there is no such page or column.

    Examples
    --------
    >>> lines = [("b", 10), ("a", 9), ("c", None)]
    >>> make_listing("forms", ["form", "year"], lines, Page(sort="year", size=2)).rows
    (('a', 9), ('b', 10))
    """
    lines = list(rows)
    if page.number < 1 or (page.size is not None and page.size < 1):
        raise InputError(
            Reason.BAD_OPTION,
            f"Page {page.number} of {what} was asked for.",
            "Pages and their sizes are counted from 1.",
            "Give positive whole numbers.",
        )
    if page.sort:
        _sort(what, columns, lines, page)
    size = page.size or max(len(lines), 1)
    n_pages = math.ceil(len(lines) / size)
    if page.number > max(n_pages, 1):
        there = count_of(max(n_pages, 1), "page")
        raise InputError(
            Reason.BAD_OPTION,
            f"Page {page.number:,} of {what} was asked for.",
            f"There {'is' if n_pages < 2 else 'are'} {there}.",
            "Give a page from 1 to the last." if n_pages > 1 else "Leave the page out.",
        )
    first = (page.number - 1) * size
    shown = tuple(lines[first : first + size])
    provenance = Provenance(
        f"list of {what}",
        parameters={"sort": page.sort, "page": str(page.number), "size": str(page.size or "all")},
        fingerprint=sha256(repr((tuple(columns), shown)).encode("utf-8", "replace")).hexdigest()[
            :16
        ],
    )
    return Listing(what, tuple(columns), shown, len(lines), first, page.number, n_pages, provenance)


def _sort(what: str, columns: Sequence[str], lines: list[tuple[Cell, ...]], page: Page) -> None:
    wanted = page.sort.casefold()
    numbers = [n for n, name in enumerate(columns) if name.casefold() == wanted]
    if not numbers:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The {what} were to be sorted by {quoted([page.sort])}.",
            "There is no such column.",
            did_you_mean(page.sort, columns),
        )
    given = [line for line in lines if line[numbers[0]] is not None]
    empty = [line for line in lines if line[numbers[0]] is None]
    given.sort(key=lambda line: _order(line[numbers[0]]), reverse=page.descending)
    lines[:] = given + empty


def _order(cell: Cell) -> tuple[bool, float, str]:
    if isinstance(cell, str):
        return True, 0.0, cell.casefold()
    return False, float(cell or 0), ""
