"""The rows of a text file of counts: one row per cell, a column per axis and one of counts.

A row with the label of totals in some columns is a count summed over these axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.perturbation import HIDDEN
from gamekeeper.data.reading.numerals import limits_of, may_be_limit, number_of
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.data.tables.axes import Axis, axis_problems, raise_all
from gamekeeper.data.tables.column_texts import encoded_columns
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, joined, quoted

Integers = NDArray[np.int64]

COUNT_NAMES = ("n", "count", "counts", "freq", "frequency", "n_obs", "obs_value")
"""The names by which a column of counts is known when none is named."""

TOTAL = -1
"""The code of the label of totals."""

_SHOWN_RECORDS = 6


@dataclass(frozen=True, repr=False)
class CountRows:
    """Rows of counts.

    Attributes
    ----------
    axes
        The columns that are axes, with their categories in the order of their first rows.
    codes
        The category of each row on each axis, `TOTAL` where it is summed over.
    counts, highs
        The counts, `HIDDEN` where none is shown; the lower and upper limits of intervals.
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

    Examples
    --------
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
