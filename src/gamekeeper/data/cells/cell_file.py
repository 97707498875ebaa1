"""Published tables in files: long or wide, text, workbooks and Parquet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from gamekeeper.data.cells.cell_rows import CellRows, Figures, Share, without_dust
from gamekeeper.data.cells.statuses import Status, read_statuses
from gamekeeper.data.reading.numerals import Limits, limits_of, may_be_limit, number_of
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.data.tables.axes import raise_all
from gamekeeper.data.tables.column_texts import text_columns
from gamekeeper.data.tables.count_file import HIDDEN_MARKS
from gamekeeper.data.tables.count_rows import COUNT_NAMES, records_words
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

_FIGURE_NAMES = (
    *COUNT_NAMES,
    "value",
    "total",
    "tot",
    "sum",
    "max",
    "freq",
    "weight",
    "mean",
    "share",
    "percent",
)
_STATUS_NAMES = ("status", "conf_status", "sdcstatus", "suppressed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column of a file is what.

    Attributes
    ----------
    axes
        The axes; all columns that are nothing else by default.
    count, value
        The counts, or the values that are added up; with both, the values are what is published, and
        the counts tell how many contribute.
    status, status_kind, hidden_status
        The status of each cell, of which kind the statuses are, and which of them are hidden.
    tops
        The largest contributions, the largest first.
    lower, upper
        Columns with the protection that each cell needs.
    percents, ratios, means
        Columns with percentages and ratios, each with the axes whose sum is the whole (or AXIS:LABEL for
        the cell with that label), and with means.
    weight
        The weight of each row, which the figure is multiplied by.
    ignore
        Columns that say nothing.
    wide
        The name of an axis whose labels are columns.
    hidden
        What stands for a hidden figure.
    said
        The texts of hidden figures, and statuses, of which a person says what they tell.
    """

    axes: Sequence[str] = ()
    count: str = ""
    value: str = ""
    status: str = ""
    status_kind: str | None = None
    hidden_status: Sequence[str] = ()
    tops: Sequence[str] = ()
    lower: str = ""
    upper: str = ""
    percents: Sequence[tuple[str, tuple[str, ...]]] = ()
    ratios: Sequence[tuple[str, tuple[str, ...]]] = ()
    means: Sequence[str] = ()
    weight: str = ""
    ignore: Sequence[str] = ()
    wide: str = ""
    hidden: Sequence[str] = ()
    said: Collection[str] = ()


@dataclass(frozen=True, eq=False)
class _Texts:
    """The texts of the columns of a file."""

    source: Source
    columns: dict[str, list[str]]

    def limits(
        self,
        name: str,
        problems: list[Problem],
        *,
        whole: bool,
        marks: Collection[str] = (),
        said: Collection[str] = (),
    ) -> dict[str, Limits]:
        """Return what cells of a column say of their figures in place of a number, by their texts.

        A mark that has a number in it is a limit, or a person says what it tells.
        """
        found: dict[str, Limits] = {}
        unread: set[str] = set()
        for text in dict.fromkeys(self.columns[name]):
            is_told = text.strip() in said
            try:
                made = limits_of(text, self.source.decimal)
            except ValueError:
                unread |= set() if is_told else {text}
                continue
            if made is not None:
                found[text] = made
                least, most = made.of_whole() if whole else (None, None)
                if most is not None and most < (least or 0):
                    unread.add(text)
            elif not is_told and text.casefold() in marks:
                unread |= {text} if may_be_limit(text, self.source.decimal) else set()
        if unread:
            do = "Write it as <5 or 1-4, or say what it tells of a count, which may be nothing"
            do += " (--says MARK=1-4, --says MARK=0+)."
            problems.append(self._unread(name, unread, "cannot be understood", do))
        return found

    def _unread(self, name: str, unread: set[str], why: str, do: str) -> Problem:
        wrong = [at for at, text in enumerate(self.columns[name]) if text in unread]
        reads = count_of(len(wrong), "cell reads", "cells read")
        said = f"{reads} like a limit that {why} ({records_words(np.array(wrong))})."
        return Problem(Reason.BAD_COUNT, f"column {quoted([name])}", said, do)

    def numbers(
        self,
        name: str,
        marks: set[str],
        problems: list[Problem],
        *,
        what: str,
        limits: Collection[str] | None = None,
    ) -> Figures:
        """Return a column as exact numbers, None for what is marked as hidden or empty.

        `limits` are the cells that are limits, which only those of figures are used as.
        """
        known: dict[str, Fraction | None] = {}
        unread: set[str] = set()
        unused: set[str] = set()
        for text in dict.fromkeys(self.columns[name]):
            is_marked = text.casefold() in marks or text in (limits or ())
            if is_marked and limits is None and may_be_limit(text, self.source.decimal):
                unused.add(text)
            number = None if is_marked else number_of(text, self.source.decimal)
            known[text] = None if number is None else without_dust(number)
            if number is None and not is_marked:
                unread.add(text)
        if unused:
            do = "Mark it with * if the audit may know less than who reads it; limits of figures are used."
            problems.append(self._unread(name, unused, "is not used", do))
        wrong = (
            [at for at, text in enumerate(self.columns[name]) if text in unread] if unread else []
        )
        if wrong:
            other = "," if self.source.decimal == "." else "."
            said = f"{count_of(len(wrong), 'cell has', 'cells have')} no number ({records_words(np.array(wrong))})."
            do = f"Say how a hidden {what} is marked (--hidden), or that the decimal mark is {other!r} (--decimal)."
            problems.append(Problem(Reason.BAD_COUNT, f"column {quoted([name])}", said, do))
        return [known[text] for text in self.columns[name]]


def read_cells(
    path: str | Path,
    columns: Columns | None = None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> CellRows:
    """Read a published table, one row per cell, or with the labels of one axis as columns.

    A figure that is not shown is marked (empty, `*`, `x`, `c`, `..`), or a status says so.
    """
    wanted = columns or Columns()
    source = open_source(path, delimiter=delimiter, encoding=encoding, decimal=decimal, sheet=sheet)
    asked = f"The table in file {quoted([source.name])} was to be read."
    figure, status, axes = _chosen(source, wanted, asked)
    texts = _Texts(source, text_columns(source, source.names, asked))
    problems: list[Problem] = []
    if wanted.wide:
        return _wide(texts, wanted, asked)
    marks = _marks(wanted)
    is_count = not wanted.value and not wanted.weight
    limits = texts.limits(figure, problems, whole=is_count, marks=marks, said=wanted.said)
    figures = texts.numbers(figure, marks, problems, what="figure", limits=limits)
    if limits and wanted.weight:
        do = "Give the weighted figures, and limits of those."
        said = "has limits of figures that are multiplied by a weight."
        problems.append(Problem(Reason.BAD_OPTION, f"column {quoted([figure])}", said, do))
    statuses, marked = _statuses(figures, texts.columns.get(status, []), status, wanted, asked)
    if status and is_count:
        # A status may say it too, of cells that are hidden.
        kept = {mark for mark, own in zip(marked, statuses, strict=True) if own.is_hidden}
        told = _Texts(source, {status: [text if text in kept else "" for text in marked]})
        limits |= told.limits(status, problems, whole=True, said=wanted.said)
    labels = tuple(_labels(texts.columns[name], name, problems) for name in axes)
    counts = None
    if wanted.value and wanted.count:
        counts = texts.numbers(wanted.count, marks, problems, what="count")
    if not wanted.value:
        problems += _not_whole(figures, figure, weighted=bool(wanted.weight))
    if wanted.weight:
        weights = texts.numbers(wanted.weight, marks, problems, what="weight")
        figures = [
            None if a is None or b is None else a * b for a, b in zip(figures, weights, strict=True)
        ]
    rows = CellRows(
        source.name,
        axes,
        labels,
        figures,
        statuses,
        marked,
        counts,
        tuple(texts.numbers(name, marks, problems, what="contribution") for name in wanted.tops),
        texts.numbers(wanted.lower, marks, problems, what="level") if wanted.lower else None,
        texts.numbers(wanted.upper, marks, problems, what="level") if wanted.upper else None,
        tuple(
            _share(texts, name, of, times, marks, problems)
            for times, own in ((100, wanted.percents), (1, wanted.ratios))
            for name, of in own
        ),
        tuple(_share(texts, name, (), 1, marks, problems) for name in wanted.means),
        printed=[
            text if own is None else ""
            for text, own in zip(texts.columns[figure], figures, strict=True)
        ],
        limits=limits,
        notices=_told(limits, figures),
    )
    raise_all(asked, problems)
    return rows


def _marks(wanted: Columns) -> set[str]:
    return {mark.strip().casefold() for mark in (*HIDDEN_MARKS, *wanted.hidden)}


def _chosen(source: Source, wanted: Columns, asked: str) -> tuple[str, str, tuple[str, ...]]:
    """Return which column has the figures, which the status, and which are axes."""
    names = source.names
    named = [
        *wanted.axes,
        *filter(None, (wanted.count, wanted.value, wanted.status, wanted.lower, wanted.upper, wanted.weight)),
        *wanted.tops, *(name for name, _ in (*wanted.percents, *wanted.ratios)), *wanted.means, *wanted.ignore,
    ]  # fmt: skip
    if wanted.wide:
        # What the figures are called is no column there.
        named = [*wanted.axes, *wanted.ignore]
    source.check_names(list(dict.fromkeys(named)))
    if wanted.wide:
        return "", "", tuple(wanted.axes)
    figure = wanted.value or wanted.count
    if not figure:
        known = [name for name in names if name.casefold() in COUNT_NAMES]
        if len(known) != 1:
            said = (
                f"Several columns may hold the figures: {quoted(known)}."
                if known
                else "No column is known to hold the figures."
            )
            raise InputError(
                Reason.BAD_OPTION, asked, said,
                "Name the column of counts (--count) or of values that were added up (--value).",
            )  # fmt: skip
        (figure,) = known
    status = wanted.status or next((n for n in names if n.casefold() in _STATUS_NAMES), "")
    taken = {*named, figure, status} - set(wanted.axes)
    axes = list(wanted.axes) or [name for name in names if name not in taken]
    odd = [name for name in axes if name.casefold() in _FIGURE_NAMES] if not wanted.axes else []
    if odd or not axes:
        said = (
            f"Columns {quoted(odd)} may be figures and not axes."
            if odd
            else "No column is left for an axis."
        )
        raise InputError(
            Reason.BAD_OPTION, asked, said,
            "Name the axes (--axes), or the columns that say nothing (--ignore).",
        )  # fmt: skip
    return figure, status, tuple(axes)


def _labels(texts: list[str], name: str, problems: list[Problem]) -> list[str]:
    empty = [at for at, text in enumerate(texts) if not text]
    if empty:
        said = f"{count_of(len(empty), 'row has', 'rows have')} no label ({records_words(np.array(empty))})."
        problems.append(
            Problem(Reason.MALFORMED, f"column {quoted([name])}", said, "Give each row one.")
        )
    return texts


def _told(limits: Mapping[str, Limits], figures: Figures) -> tuple[str, ...]:
    """Return that an upper limit leaves 0 possible, where other cells show it."""
    up = [text for text, own in limits.items() if own.low is None]
    if not up or not any(figure == 0 for figure in figures):
        return ()
    say = f"--says '{up[0]}=1-{limits[up[0]].of_whole()[1]}' of tables audit"
    said = f"A cell that is an upper limit may be 0, although 0 is shown elsewhere; if it is not, say so ({say})"
    return (f"{said}: {quoted(up)}.",)


def _statuses(
    figures: Figures, written: list[str], column: str, wanted: Columns, asked: str
) -> tuple[list[Status], list[str]]:
    if not column:
        made = [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures]
        return made, ["" for _ in figures]
    meaning = read_statuses(
        written, column, asked, vocabulary=wanted.status_kind, hidden=wanted.hidden_status
    )
    found = [meaning[text.strip()] for text in written]
    # A figure that is not there is hidden, whatever the status says.
    return [
        Status.HIDDEN if figure is None and status is Status.SHOWN else status
        for figure, status in zip(figures, found, strict=True)
    ], list(written)


def _not_whole(figures: Figures, column: str, *, weighted: bool) -> list[Problem]:
    wrong = [
        at
        for at, figure in enumerate(figures)
        if figure is not None and (figure.denominator != 1 or figure < 0)
    ]
    if not wrong or weighted:
        return []
    which = records_words(np.array(wrong))
    said = f"{count_of(len(wrong), 'count is', 'counts are')} no whole number from 0 up ({which})."
    do = f"Read what was weighted or added up as values (--value {column})."
    return [Problem(Reason.BAD_COUNT, f"column {quoted([column])}", said, do)]


def _share(
    texts: _Texts,
    name: str,
    of: tuple[str, ...],
    times: int,
    marks: set[str],
    problems: list[Problem],
) -> Share:
    bare = _Texts(
        texts.source, {name: [text.removesuffix("%").strip() for text in texts.columns[name]]}
    )
    values = bare.numbers(name, marks, problems, what="figure")
    digits = [
        len(text.partition(texts.source.decimal)[2]) if number is not None else 0
        for text, number in zip(bare.columns[name], values, strict=True)
    ]
    # A file that drops zeros at the end ('8' for '8.0') was rounded like its longest figure.
    most = max(digits, default=0)
    return Share(name, values, [most] * len(values), of, times)


def _wide(texts: _Texts, wanted: Columns, asked: str) -> CellRows:
    if not wanted.axes:
        raise InputError(
            Reason.BAD_OPTION, asked, "It is wide, and its other axes are not named.",
            "Name the columns that are axes (--axes).",
        )  # fmt: skip
    labels = [n for n in texts.columns if n not in wanted.axes and n not in wanted.ignore]
    problems: list[Problem] = []
    marks = _marks(wanted)
    columns = [_labels(texts.columns[name], name, problems) * len(labels) for name in wanted.axes]
    figures: Figures = []
    printed: list[str] = []
    limits: dict[str, Limits] = {}
    labels_of: list[str] = []
    for label in labels:
        read = texts.limits(label, problems, whole=not wanted.value, marks=marks, said=wanted.said)
        own = texts.numbers(label, marks, problems, what="figure", limits=read)
        limits |= read
        printed += [
            text if figure is None else ""
            for text, figure in zip(texts.columns[label], own, strict=True)
        ]
        if not wanted.value:
            problems += _not_whole(own, label, weighted=False)
        figures += own
        labels_of += [label] * len(own)
    raise_all(asked, problems)
    return CellRows(
        texts.source.name,
        (*wanted.axes, wanted.wide),
        (*columns, labels_of),
        figures,
        [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures],
        ["" for _ in figures],
        printed=printed,
        limits=limits,
        notices=_told(limits, figures),
    )
