"""Tables of counts in text files with one row per cell: true counts, or a whole release.

There is a column per axis and one of counts. A row with the label of totals in some columns is a
count summed over these axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import HIDDEN, Interval, SchemeLike, parse_scheme
from gamekeeper.arrow import pa
from gamekeeper.data.reading.columns import (
    ColumnKind,
    kind_of,
    limits_of,
    may_be_limit,
    number_of,
    type_name,
)
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.data.tables.axes import (
    Axis,
    PublishedTable,
    axis_problems,
    cells_words,
    raise_all,
    too_many_axes,
)
from gamekeeper.data.tables.count_table import CountTable, checked_intervals, limits_within
from gamekeeper.data.tables.release import Release
from gamekeeper.data.tables.subtotals import Disjoint, asking, disjoint_names
from gamekeeper.errors import InputError, LimitError, Problem, Reason, refuse
from gamekeeper.wording import count_of, joined, quoted

Integers = NDArray[np.int64]


def encoded_columns(
    source: Source,
    names: Sequence[str],
    asked: str,
    *,
    require: Callable[[int], None] | None = None,
) -> dict[str, tuple[list[str], Integers]]:
    """Return for each column its different texts, in order of appearance, and their places.

    `require` refuses a number of rows that there are at least: asked before any is read where the
    file tells it, and as they are read where it does not.
    """
    if require is not None and source.n_records is not None:
        require(source.n_records)
    batches: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in source.batches(list(dict.fromkeys(names))):
        if not batches:
            _check_types(batch.schema, asked)
        batches.append(batch)
        n_rows += batch.num_rows
        if require is not None and source.n_records is None:
            require(n_rows)
    if not n_rows:
        raise InputError(Reason.NOTHING_GIVEN, asked, "It has no rows.", "Check the file.")
    table: Any = pa.Table.from_batches(batches).unify_dictionaries()
    found: dict[str, tuple[list[str], Integers]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        encoded = column.combine_chunks().dictionary_encode()
        values = encoded.dictionary.to_pylist()
        if encoded.indices.null_count:
            values.append(None)
        texts = ["" if value is None else str(value).strip() for value in values]
        places = encoded.indices.fill_null(len(texts) - 1).to_numpy().astype(np.int64)
        found[name] = texts, places
    return found


def text_columns(
    source: Source,
    names: Sequence[str],
    asked: str,
    *,
    require: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Return the text of each row in each of some columns; see `encoded_columns`."""
    read = encoded_columns(source, names, asked, require=require)
    return {
        name: [texts[place] for place in places.tolist()] for name, (texts, places) in read.items()
    }


def _check_types(schema: Any, asked: str) -> None:
    """Refuse columns of lists, records and bytes."""
    problems = [
        Problem(
            Reason.WRONG_SCHEMA,
            f"column {quoted([field.name])}",
            f"It is of type {type_name(field.type)}.",
            "Give numbers, texts, dates or truth values.",
        )
        for field in schema
        if kind_of(field.type) is ColumnKind.OTHER
    ]
    refuse(problems, asked, f"{count_of(len(problems), 'column')} cannot be used.")


COUNT_NAMES = ("n", "count", "counts", "freq", "frequency", "n_obs", "obs_value")
"""The names by which a column of counts is known when none is named."""

TOTAL = -1
"""The code of the label of totals."""

_SHOWN_RECORDS = 6


@dataclass(frozen=True, repr=False)
class CountRows:
    """Rows of counts.

    - `axes`: the columns that are axes, with their categories in the order of their first rows.
    - `codes`: the category of each row on each axis, `TOTAL` where it is summed over.
    - `counts`, `highs`: the counts, `HIDDEN` where none is shown; the lower and upper limits of intervals.
    """

    name: str
    axes: tuple[Axis, ...]
    codes: tuple[Integers, ...]
    counts: Integers
    highs: Integers

    def patterns(self) -> list[tuple[tuple[int, ...], NDArray[np.intp]]]:
        """Return the sets of axes that are not summed over, largest first, with their rows."""
        kept = np.array([codes != TOTAL for codes in self.codes], bool).reshape(len(self.axes), -1)
        found, which = np.unique(kept, axis=1, return_inverse=True)
        sets = [tuple(np.flatnonzero(column).tolist()) for column in found.T]
        order = sorted(range(len(sets)), key=lambda at: (-len(sets[at]), sets[at]))
        return [(sets[at], np.flatnonzero(which.reshape(-1) == at)) for at in order]

    def table_name(self, kept: Sequence[int]) -> str:
        """Return what the table of the kept axes is called."""
        return " by ".join(self.axes[axis].name for axis in kept) or "total"

    def cells(self, kept: Sequence[int], rows: NDArray[np.intp]) -> Integers:
        """Return the numbers of the cells of some rows in the table of the kept axes."""
        cells = np.zeros(len(rows), np.int64)
        for axis in kept:
            cells = cells * len(self.axes[axis]) + self.codes[axis][rows]
        return cells


def read_rows(
    path: str | Path,
    *,
    count: str | None,
    axes: Sequence[str] | None,
    total: str | Sequence[str] | None,
    hidden: Sequence[str] | None,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
) -> CountRows:
    """Read all rows, or raise one error with every problem; `hidden` is None where none may be."""
    asked = f"The counts in file {quoted([Path(path).name])} were to be read."
    if Path(path).suffix.lower() == ".xlsx":
        raise InputError(Reason.NOT_READABLE, asked, "It is a workbook.", "Save it as CSV.")
    source = open_source(path, delimiter=delimiter, encoding=encoding, decimal=decimal)
    name = source.name
    if source.kind != "csv":
        raise InputError(
            Reason.NOT_READABLE, asked, f"It is a file of {source.kind}.", "Save it as CSV."
        )
    counted = _count_column(source, count, asked)
    wanted = [own for own in source.names if own != counted] if axes is None else list(axes)
    source.check_names([*wanted, counted])
    columns = encoded_columns(source, [*wanted, counted], asked)
    problems: list[Problem] = []
    named = [total] if isinstance(total, str) else total or ()
    totals = {text.strip().casefold() for text in named}
    made = [_axis(own, columns[own], totals, problems) for own in wanted]
    counts, highs = _counts(counted, columns[counted], source.decimal, hidden, problems=problems)
    problems += axis_problems([axis for axis, _ in made])
    raise_all(asked, problems, "Mend these rows; no count is guessed.")
    return CountRows(
        name, tuple(axis for axis, _ in made), tuple(codes for _, codes in made), counts, highs
    )


def require_absent(absent: str) -> None:
    """Refuse what is no rule for cells without a row."""
    if absent not in ("error", "zero", "hidden"):
        raise InputError(
            Reason.BAD_OPTION,
            f"Cells without a row were to be read as {quoted([absent])}.",
            "There is no such rule.",
            "There are: 'error', 'zero', 'hidden'.",
        )


def records_words(records: NDArray[np.intp]) -> str:
    """Return the numbers of records, from 1, in words.

    >>> records_words(np.array([0, 4]))
    'records 1 and 5'
    """
    first = [f"{record + 1:,}" for record in records[:_SHOWN_RECORDS].tolist()]
    noun = "record" if len(records) == 1 else "records"
    return f"{noun} {joined(first, _SHOWN_RECORDS, among=len(records))}"


def _count_column(source: Source, count: str | None, asked: str) -> str:
    if count is not None:
        return count
    known = [name for name in source.names if name.casefold() in COUNT_NAMES]
    if len(known) == 1:
        return known[0]
    found = "Several columns may hold them" if known else "No column is known to hold them"
    raise InputError(
        Reason.BAD_OPTION,
        asked,
        f"{found}{f': {quoted(known)}' if known else ''}.",
        f"Name the column with the counts (--count); known names are {quoted(COUNT_NAMES)}.",
    )


def _axis(
    name: str, column: tuple[list[str], Integers], totals: set[str], problems: list[Problem]
) -> tuple[Axis, Integers]:
    texts, places = column
    categories = [text for text in dict.fromkeys(texts) if text.casefold() not in totals]
    numbers = {text: number for number, text in enumerate(categories)}
    codes = np.array([numbers.get(text, TOTAL) for text in texts], np.int64)[places]
    if "" in numbers:
        records = np.flatnonzero(codes == numbers[""])
        said = f"{count_of(len(records), 'row has', 'rows have')} no category"
        where = f"column {quoted([name])}"
        found = f"{said} ({records_words(records)})."
        problems.append(Problem(Reason.MALFORMED, where, found, "Give each row one."))
        categories[numbers[""]] = "no category"
    return Axis(name, tuple(categories)), codes


def _counts(
    name: str,
    column: tuple[list[str], Integers],
    decimal: str,
    hidden: Sequence[str] | None,
    *,
    problems: list[Problem],
) -> tuple[Integers, Integers]:
    texts, places = column
    marks = {mark.strip().casefold() for mark in hidden or ()}
    ends = np.zeros((len(texts), 2), np.int64)
    faults: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        low, high, fault = _limits(text, decimal) if hidden is not None else (HIDDEN, HIDDEN, "")
        if low == HIDDEN and hidden is not None and text.casefold() in marks:
            ends[number] = HIDDEN
            if not may_be_limit(text, decimal):
                continue
            low, fault = 0, "with limits that cannot be understood: write them as <5 or 1-4"
        if low == HIDDEN:
            low, high, fault = _read(text, decimal)
        ends[number] = low, high
        if fault:
            faults.setdefault(fault, []).append(number)
    for fault, numbers in faults.items():
        records = np.flatnonzero(np.isin(places, numbers))
        found = f"{count_of(len(records), 'cell')} {fault} ({records_words(records)})."
        problems.append(
            Problem(
                Reason.BAD_COUNT,
                f"column {quoted([name])}",
                found,
                f"Counts are whole numbers from 0 to {UNBOUNDED - 1:,}.",
            )
        )
    return ends[places, 0], ends[places, 1]


def _limits(text: str, decimal: str) -> tuple[int, int, str]:
    """Return the limits that a text reads as, and what is wrong with them; `HIDDEN` where it reads as none."""
    try:
        made = limits_of(text, decimal)
    except ValueError:
        return 0, 0, "with limits that cannot be understood"
    if made is None:
        return HIDDEN, HIDDEN, ""
    least, most = made.of_whole()
    low, high = max(least or 0, 0), UNBOUNDED if most is None else most
    if low > high or low >= UNBOUNDED or (most is not None and most >= UNBOUNDED):
        return 0, 0, "with an upper limit below the lower one, or too large"
    return low, high, ""


def _read(text: str, decimal: str) -> tuple[int, int, str]:
    """Return the count that a text stands for, twice, and what is wrong with it; never the text."""
    number = number_of(text, decimal)
    if number is None:
        return 0, 0, "without a number" if not text else "with a text where a number belongs"
    if number.denominator != 1:
        return 0, 0, "with a number that is not whole"
    if not 0 <= number < UNBOUNDED:
        return 0, 0, "below 0" if number < 0 else f"with {UNBOUNDED:,} or more"
    return int(number), int(number), ""


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
    r"""Read a table of true counts from a text file with one row per cell, as `read_counts` does.

    A cell without a row is 0. Rows with the label of totals must agree with the cells.

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
