"""Tables of counts in text files with one row per cell: true counts, or a whole release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.perturbation import HIDDEN
from gamekeeper.algorithms.releases.scheme_names import SchemeLike, parse_scheme
from gamekeeper.algorithms.releases.schemes import Interval
from gamekeeper.data.tables.axes import Axis, cells_words, raise_all, too_many_axes
from gamekeeper.data.tables.count_rows import CountRows, read_rows, records_words, require_absent
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.published_table import PublishedTable
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.subtotals import Disjoint, asking, disjoint_names
from gamekeeper.data.tables.typed_release import checked_intervals, limits_within
from gamekeeper.errors import LimitError, Problem, Reason
from gamekeeper.wording import count_of, quoted

Integers = NDArray[np.int64]

HIDDEN_MARKS = ("", "*", "x", "c", "..")
"""What usually stands in the place of a count that is not shown."""

_MOST_CELLS = 1 << 26


def read_counts(
    path: str | Path,
    *,
    scheme: SchemeLike = "exact",
    count: str | None = None,
    axes: Sequence[str] | None = None,
    total: str | Sequence[str] | None = "Total",
    hidden: Sequence[str] = HIDDEN_MARKS,
    absent: str = "error",
    disjoint: Disjoint = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Release:
    r"""Read everything that a text file publishes, one row per cell.

    Rows with the label of totals belong to margins: each set of axes that is not summed over is a
    published table of its own.

    Parameters
    ----------
    path
        A text file (CSV) with the names of its columns in the first line.
    scheme
        How the counts were published. For 'interval', cells such as `2-5` and `20+` are read.
    count
        The column with the counts; one that is called n, count, freq or the like when None.
    axes
        The columns that are axes; all others when None.
    total
        The category that stands for a sum over an axis, or several; None where there is none.
    hidden
        What stands in the place of a count that is not shown.
    absent
        What a cell without a row means: "error", "zero" or "hidden".
    disjoint
        The axes whose categories exclude each other, although labels look like sums of others; True
        for all.
    delimiter, encoding, decimal
        How the file is written; detected when None.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> rows = "age,work,n\nyoung,yes,3\nyoung,no,*\nold,yes,0\nold,no,6\nTotal,Total,12\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "counts.csv")
    ...     _ = path.write_text(rows)
    ...     release = read_counts(path, scheme="conventional:3")
    >>> [release.row_words(row) for row in (1, 4)]
    ["table 'age by work', age=young, work=no: hidden", "table 'total', total: published 12"]
    """
    made = parse_scheme(scheme)
    require_absent(absent)
    rows = read_rows(
        path, count=count, axes=axes, total=total, hidden=hidden, delimiter=delimiter,
        encoding=encoding, decimal=decimal,
    )  # fmt: skip
    asked = f"The counts in file {quoted([rows.name])} were to be read."
    problems: list[Problem] = []
    tables: list[PublishedTable] = []
    for kept, members in rows.patterns():
        own = [rows.axes[axis] for axis in kept]
        name = rows.table_name(kept)
        where = f"table {quoted([name])}"
        shape = tuple(map(len, own))
        raise_all(asked, too_many_axes(len(shape)))
        if math.prod(shape) > _MOST_CELLS:
            raise LimitError(
                Reason.TOO_LARGE,
                asked,
                f"The {where} has {math.prod(shape):,} cells, above {_MOST_CELLS:,}.",
                "Name fewer columns as axes (--axes).",
            )
        cells = _single_cells(rows, kept, members, where, problems)
        empty = np.ones(math.prod(shape), bool)
        empty[cells] = False
        if absent == "error" and empty.any():
            problems.append(_absent(np.flatnonzero(empty), own, where))
        filled = np.full((2, len(empty)), 0 if absent == "zero" else HIDDEN, np.int64)
        filled[0, cells], filled[1, cells] = rows.counts[members], rows.highs[members]
        low, high = (part.reshape(shape) for part in filled)
        counts, highs, scheme, kept = low, None, made, None
        if isinstance(made, Interval):
            counts, highs = checked_intervals(made, (low, high), own, where, problems)
        elif np.any(low != high):
            # Limits in some cells: every count is an interval, those that are shown of one number.
            ends = limits_within(made, (low, high), own, where, problems)
            (counts, highs), scheme = ends or (None, None), Interval()
            kept = made.reach(HIDDEN)
        if counts is not None:
            names = tuple(axis.name for axis in own)
            tables.append(PublishedTable(name, names, scheme, counts, highs, hidden=kept))
    raise_all(asked, problems)
    names = disjoint_names(rows.axes, disjoint)
    with asking(asked):
        return Release(rows.axes, tuple(tables), Path(path).stem, names)


def read_count_table(
    path: str | Path,
    *,
    count: str | None = None,
    axes: Sequence[str] | None = None,
    total: str | Sequence[str] | None = "Total",
    disjoint: Disjoint = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> CountTable:
    r"""Read a table of true counts from a text file with one row per cell.

    A cell without a row is 0. Rows with the label of totals must agree with the cells.

    Parameters
    ----------
    path, count, axes, total, disjoint, delimiter, encoding, decimal
        As for `read_counts`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "counts.csv")
    ...     _ = path.write_text("age,work,n\nyoung,yes,3\nold,no,6\n")
    ...     table = read_count_table(path)
    >>> table.dense().tolist()
    [[3, 0], [0, 6]]
    """
    rows = read_rows(
        path, count=count, axes=axes, total=total, hidden=None,
        delimiter=delimiter, encoding=encoding, decimal=decimal,
    )  # fmt: skip
    asked = f"The true counts in file {quoted([rows.name])} were to be read."
    problems: list[Problem] = []
    tables = {
        kept: (_single_cells(rows, kept, members, _where(rows, kept), problems), members)
        for kept, members in rows.patterns()
    }
    whole = tuple(range(len(rows.axes)))
    if whole not in tables:
        said = "every row is a total of something."
        problems.append(Problem(Reason.NOTHING_GIVEN, "file", said, "Give the cells themselves."))
    raise_all(asked, problems)
    cells, members = tables.pop(whole)
    table = CountTable.of_cells(rows.axes, cells, rows.counts[members])
    for kept, (at, own) in tables.items():
        sums = table.margin([rows.axes[axis].name for axis in kept]).dense().reshape(-1)
        wrong = own[sums[at] != rows.counts[own]]
        if len(wrong):
            found = f"{count_of(len(wrong), 'total')} not the sum of the cells ({records_words(wrong)})."
            problems.append(Problem(Reason.CONFLICTING_COUNTS, _where(rows, kept), found))
    raise_all(asked, problems, "Mend the totals or the cells; a cell without a row is 0.")
    table.question(asked, disjoint)
    return table


def _where(rows: CountRows, kept: Sequence[int]) -> str:
    return f"table {quoted([rows.table_name(kept)])}"


def _single_cells(
    rows: CountRows,
    kept: Sequence[int],
    members: NDArray[np.intp],
    where: str,
    problems: list[Problem],
) -> Integers:
    """Return the cells of some rows, and add a problem where two rows are of the same cell."""
    cells = rows.cells(kept, members)
    _, first = np.unique(cells, return_index=True)
    if len(first) < len(cells):
        again = np.delete(members, first)
        found = f"{count_of(len(again), 'row is', 'rows are')} of a cell that has one already"
        do = "Give each cell one row, or name further columns as axes (--axes)."
        problems.append(Problem(Reason.DUPLICATE, where, f"{found} ({records_words(again)}).", do))
    return cells


def _absent(empty: NDArray[np.intp], own: Sequence[Axis], where: str) -> Problem:
    shown = cells_words(own, empty.tolist())
    found = f"{count_of(len(empty), 'cell has', 'cells have')} no row ({shown})."
    do = (
        "Add them, or say what a cell without a row means: absent is 'zero' or 'hidden' (--absent)."
    )
    return Problem(Reason.NOTHING_GIVEN, where, found, do)
