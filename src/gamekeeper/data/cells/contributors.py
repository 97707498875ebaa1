"""Who adds how much to the cells of published tables: from records, or as far as tables tell.

Records name their contributor, a unit or the holding that it belongs to, so that one who is in several
cells is one. Tables tell how many contribute to a cell and what the largest are; then those of different
cells are taken for different ones, and each adds to whatever holds its cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from gamekeeper.data.cells.cell_rows import CellRows, without_dust
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.data.reading.source import Source
from gamekeeper.data.tables.axes import raise_all
from gamekeeper.data.tables.column_texts import text_columns
from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import count_of, quoted

_SHOWN = 6
Contribution = tuple[int, Fraction]
"""A contributor, by number, and how much it adds."""


@dataclass(frozen=True, eq=False, repr=False)
class Contributors:
    """The contributors to cells.

    Attributes
    ----------
    of_cell
        For each cell its contributors that are known, the largest first.
    counts
        For each cell how many contribute, where that is known.
    of_contributor
        For each contributor what it adds at least to which cell.
    is_named
        Whether they are from records, so that one in several cells is one.
    """

    of_cell: dict[int, tuple[Contribution, ...]]
    counts: dict[int, Fraction]
    of_contributor: dict[int, dict[int, Fraction]]
    is_named: bool

    def covers(self, cell: int, n_known: int) -> bool:
        """Whether so many contributors to a cell are all that there are."""
        return self.counts.get(cell) == n_known


def contributors_of_tables(tables: TableSet) -> Contributors:
    """Return the contributors that tables tell of: their number, and the largest of each cell."""
    holders = _Holders(tables)
    found: dict[int, list[Contribution]] = {}
    counts: dict[int, Fraction] = {}
    adds: dict[int, dict[int, Fraction]] = {}
    for table, cells in zip(tables.tables, tables.system.tables, strict=False):
        for at, cell in enumerate(cells.tolist()):
            count = _count(table, at, whole=tables.whole)
            if count is None or cell in counts:
                continue
            counts[cell] = count
            over = list(holders.of(cell)) if table.statuses[at].is_hidden else [cell]
            for size in _largest(table, at, count, whole=tables.whole):
                found.setdefault(cell, []).append((len(adds), size))
                adds[len(adds)] = dict.fromkeys(over, size)
    return Contributors(_ordered(found), counts, adds, is_named=False)


def read_contributors(
    source: Source, tables: TableSet, value: str = "", *, holding: str = ""
) -> Contributors:
    """Read who contributes from records, with columns named as the axes of tables.

    Parameters
    ----------
    value
        The column that was added up; without one, each record counts 1.
    holding
        To which holding a record belongs; without one, each record is its own contributor.
    """
    asked = f"Contributors were to be read from {source.words}."
    names = [*tables.axes, *filter(None, (value, holding))]
    source.check_names(names)
    read = text_columns(source, names, asked)
    problems: list[Problem] = []
    atoms = [_atoms(read[name], at, tables, problems) for at, name in enumerate(tables.axes)]
    sizes = _sizes(read.get(value), len(read[names[0]]), source.decimal, value, problems)
    raise_all(asked, problems)
    who: dict[str, int] = {}
    owners = (
        [who.setdefault(one, len(who)) for one in read[holding]]
        if holding
        else list(range(len(sizes)))
    )
    holders = _Holders(tables)
    adds: dict[int, dict[int, Fraction]] = {}
    for key, owner, size in zip(zip(*atoms, strict=True), owners, sizes, strict=True):
        own = adds.setdefault(owner, {})
        for cell in holders.above(key):
            own[cell] = own.get(cell, Fraction(0)) + size
    found: dict[int, list[Contribution]] = {}
    for owner, own in adds.items():
        for cell, size in own.items():
            found.setdefault(cell, []).append((owner, size))
    counts = {cell: Fraction(len(own)) for cell, own in found.items()}
    return Contributors(_ordered(found), counts, adds, is_named=True)


class _Holders:
    """The cells that hold others, looked up by their nodes."""

    def __init__(self, tables: TableSet) -> None:
        self._system = tables.system
        self._cells = {tuple(n): cell for cell, n in enumerate(tables.system.nodes.tolist())}

    def above(self, atoms: Sequence[int]) -> Iterator[int]:
        """Return the cells that hold one finest cell."""
        nodes = [
            axis.over_atoms[atom].tolist()
            for axis, atom in zip(self._system.axes, atoms, strict=True)
        ]
        return self._there(nodes)

    def of(self, cell: int) -> Iterator[int]:
        """Return the cells that hold a cell, itself among them."""
        nodes: list[list[int]] = []
        for axis, node in zip(self._system.axes, self._system.nodes[cell].tolist(), strict=True):
            own = set(axis.atoms[node].tolist())
            first = axis.over_atoms[int(axis.atoms[node][0])].tolist()
            nodes.append([over for over in first if own <= set(axis.atoms[over].tolist())])
        return self._there(nodes)

    def _there(self, nodes: Sequence[Sequence[int]]) -> Iterator[int]:
        return (self._cells[key] for key in product(*nodes) if key in self._cells)


def _count(table: CellRows, at: int, *, whole: bool) -> Fraction | None:
    if table.counts is not None:
        return table.counts[at]
    # People who are counted contribute one each.
    return table.figures[at] if whole else None


def _largest(table: CellRows, at: int, count: Fraction, *, whole: bool) -> list[Fraction]:
    """Return the largest contributions to a cell, as far as its table tells."""
    if whole and table.counts is None:
        return [Fraction(1)] * min(int(count), _SHOWN)
    tops = [own[at] for own in table.tops]
    told = [abs(size) for size in tops if size is not None][: max(int(count), 0)]
    figure = table.figures[at]
    if not told and count == 1 and figure is not None:
        told = [abs(figure)]
    return told


def _ordered(found: dict[int, list[Contribution]]) -> dict[int, tuple[Contribution, ...]]:
    return {
        cell: tuple(sorted(own, key=lambda one: (-one[1], one[0]))) for cell, own in found.items()
    }


def _atoms(texts: list[str], at: int, tables: TableSet, problems: list[Problem]) -> list[int]:
    axis = tables.system.axes[at]
    places = dict(axis.finest)
    for label, node in axis.number.items():
        if axis.is_atom[node]:
            places.setdefault(label, int(axis.atoms[node][0]))
    odd = list(dict.fromkeys(text for text in texts if text not in places))
    if odd:
        said = f"{count_of(len(odd), 'category')} of it {'is' if len(odd) == 1 else 'are'} no finest one of the tables."
        do = "Records have the finest categories, in the words of the tables."
        problems.append(
            Problem(Reason.UNKNOWN_NAME, f"column {quoted([tables.axes[at]])}", said, do)
        )
    return [places.get(text, 0) for text in texts]


def _sizes(
    texts: list[str] | None, n: int, decimal: str, value: str, problems: list[Problem]
) -> list[Fraction]:
    if texts is None:
        return [Fraction(1)] * n
    read = {text: number_of(text, decimal) for text in dict.fromkeys(texts)}
    wrong = sum(read[text] is None for text in texts)
    if wrong:
        said = f"{count_of(wrong, 'record has', 'records have')} no number."
        problems.append(
            Problem(Reason.BAD_COUNT, f"column {quoted([value])}", said, "Give each record one.")
        )
    return [without_dust(read[text] or Fraction(0)) for text in texts]
