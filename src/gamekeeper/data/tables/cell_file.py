"""Published tables in files, long or wide: a label per axis, a figure, and whether it is shown.

Text files are in UTF-8, or as Windows has them in western languages; workbooks and Parquet are read
as well. The status of a cell, shown, or hidden and why, is in the letters of the tools that write it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

import numpy as np

from gamekeeper.algorithms.releases.schemes import Exact, Scheme, SchemeLike, parse_scheme
from gamekeeper.data.reading.columns import Limits, limits_of, may_be_limit, number_of
from gamekeeper.data.reading.source import Source, open_source
from gamekeeper.data.tables.axes import Perturbed, raise_all
from gamekeeper.data.tables.count_file import COUNT_NAMES, HIDDEN_MARKS, records_words, text_columns
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.files import require_ordinary
from gamekeeper.wording import count_of, quoted


def tool_text(file: Path, asked: str) -> str:
    """Return the text of a file, or refuse one that is not there or is no text."""
    # This leaves out pipes and devices, too.
    if not file.is_file():
        raise InputError(Reason.NOT_FOUND, asked, "There is no such file.", "Check its name.")
    require_ordinary(file)
    content = file.read_bytes()
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(
        Reason.WRONG_ENCODING, asked, "Its letters cannot be read.", "Save it as UTF-8."
    )


class Status(StrEnum):
    """What became of a cell."""

    SHOWN = "shown"
    UNSAFE = "unsafe"
    """Hidden because a rule or a person says so."""
    SECONDARY = "secondary"
    """Hidden so that others cannot be worked out."""
    HIDDEN = "hidden"
    """Hidden, and nobody says why."""
    PERTURBED = "perturbed"
    """Shown, but not as it is: rounded, or changed by chance."""
    UNPUBLISHED = "unpublished"
    """Never meant to be published: nobody asks what it is."""
    EMPTY = "empty"
    """Known to be empty: it can hold nobody."""

    @property
    def is_hidden(self) -> bool:
        """Whether the figure is kept back."""
        return self in (Status.UNSAFE, Status.SECONDARY, Status.HIDDEN)


def _letters(shown: str, unsafe: str, secondary: str, **others: str) -> dict[str, Status]:
    found = dict.fromkeys(shown.split(), Status.SHOWN)
    found |= dict.fromkeys(unsafe.split(), Status.UNSAFE)
    found |= dict.fromkeys(secondary.split(), Status.SECONDARY)
    for name, letters in others.items():
        found |= dict.fromkeys(letters.split(), Status(name))
    return found


VOCABULARIES: Mapping[str, Mapping[str, Status]] = {
    "argus": _letters("S P s p", "U u", "M m", empty="E e"),
    "numbers": _letters("1 2 10", "3 4 5 6 7 8 9", "11 12", unpublished="13", empty="14"),
    "sbs": _letters("V", "A B C", "D"),
    "sdctable": _letters("s z", "u", "x", unpublished="w"),
    "sdmx": _letters("F U", "A B C G M N O P R T W", "D S"),
    "yes-no": _letters("False false FALSE 0 no No", "", "", hidden="True true TRUE 1 yes Yes"),
    "acro": _letters(
        "ok pass", "fail review threshold; p-ratio; nk-rule; missing; all-values-are-same;", ""
    ),
}
"""The letters of tau-ARGUS (tables that it reads, and its numbers), of structural business
statistics, sdcTable, SDMX's CONF_STATUS and ACRO, and a column that says yes or no."""

_BY_NAME = {"conf_status": "sdmx", "sdcstatus": "sdctable", "suppressed": "yes-no"}


def read_statuses(
    texts: Iterable[str],
    column: str,
    asked: str,
    *,
    vocabulary: str | None = None,
    hidden: Iterable[str] = (),
) -> dict[str, Status]:
    """Return the status that each text of a column stands for.

    With `hidden`, these texts and no others are hidden ones. Without a vocabulary, that which has
    every text is taken, if no other reads them differently.

    >>> found = read_statuses(["V", "A", "D"], "Status", "x")
    >>> [str(found[text]) for text in ("V", "A", "D")]
    ['shown', 'unsafe', 'secondary']
    """
    every = list(dict.fromkeys(text.strip() for text in texts))
    named = {text.strip() for text in hidden}
    if named:
        return {text: Status.HIDDEN if text in named else Status.SHOWN for text in every}
    known = [text for text in every if text]
    chosen = vocabulary or _BY_NAME.get(column.strip().casefold())
    if chosen is not None and chosen not in VOCABULARIES:
        raise InputError(
            Reason.UNKNOWN_NAME,
            asked,
            f"There are no statuses {quoted([chosen])}.",
            f"There are: {quoted(VOCABULARIES)}.",
        )
    names = [chosen] if chosen else list(VOCABULARIES)
    fitting = [name for name in names if all(text in VOCABULARIES[name] for text in known)]
    read = {name: tuple(VOCABULARIES[name][text].is_hidden for text in known) for name in fitting}
    if not fitting:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            f"Column {quoted([column])} has statuses of no kind that is known.",
            "Say which of them are hidden (--hidden-status A,B), or of which kind they are"
            f" (--status-kind): {quoted(VOCABULARIES)}.",
        )
    if len(set(read.values())) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            f"The statuses of column {quoted([column])} mean different things: {quoted(fitting)}.",
            "Say which (--status-kind), or which of them are hidden (--hidden-status A,B).",
        )
    found = {text: VOCABULARIES[fitting[0]][text] for text in known}
    return {**found, "": Status.SHOWN}


Figures = list[Fraction | None]
EXACT = Exact()

_FEW_DECIMALS = 10**6


def without_dust(figure: Fraction) -> Fraction:
    """Return a figure without what floating point added to it: 27.778399999999998 is 27.7784.

    >>> (
    ...     float(without_dust(Fraction("27.778399999999998"))),
    ...     float(without_dust(Fraction("0.1234567"))),
    ... )
    (27.7784, 0.1234567)
    """
    if figure.denominator <= _FEW_DECIMALS:
        return figure
    for digits in range(12, 16):
        short = Fraction(f"{float(figure):.{digits}g}")
        if short.denominator < figure.denominator and abs(short - figure) <= abs(figure) / 10**15:
            return short
    return figure


@dataclass(frozen=True, eq=False, repr=False)
class Share:
    """A column of percentages, means or ratios.

    - `values`, `digits`: each figure, None where there is none, and after how many decimals it was rounded.
    - `of`: what it is a share of: the axes over which the whole is summed, or `axis:label` for the
      cell with that label; nothing for a mean.
    - `times`: 100 for percentages, 1 for shares, ratios and means.
    """

    name: str
    values: Figures
    digits: list[int]
    of: tuple[str, ...] = ()
    times: int = 100

    def label_of(self, axis: str) -> str | None:
        """Return the label that the whole has on an axis, "" for its total; None for that of the part.

        >>> share = Share("per man", [], [], ("Sex:m", "Age"))
        >>> share.label_of("Sex"), share.label_of("Age"), share.label_of("Area")
        ('m', '', None)
        """
        if axis in self.of:
            return ""
        found = [own.partition(f"{axis}:")[2] for own in self.of if own.startswith(f"{axis}:")]
        return found[0] if found else None


@dataclass(frozen=True, eq=False)
class CellRows:
    """One published table.

    - `labels`: for each axis the label of each row.
    - `figures`: the figure of each row, None where none is there; a hidden one is the truth.
    - `statuses`: what became of each cell.
    - `marks`: the status as it was written.
    - `counts`, `tops`: how many contribute to each cell, and the largest contributions, where they
      are told.
    - `lower_levels`, `upper_levels`: how far below and above the figure an attacker must be left in
      doubt, where that is told.
    - `shares`, `means`: percentages, and means of the figure over the count, that are published beside it.
    - `totals`: for each axis the labels that stand for its whole, as the file says.
    - `hierarchies`: for each axis the file with its hierarchy, as the file says.
    - `hidden_limits`: the least and the largest count that a hidden cell may have, where the table says so.
    - `printed`: what stands in the place of each hidden figure, where the file shows it.
    - `limits`: what that says of the figure, by how it is written: '<5', '1-4'.
    - `outside`: for each axis labels that stand beside its hierarchy, such as that of what is not known.
    - `scheme`: how the figures that are shown were published.
    - `stands_for`: what each perturbed figure stands for, by its row.
    - `notices`: what to know of how it was read.
    """

    name: str
    axes: tuple[str, ...]
    labels: tuple[list[str], ...]
    figures: Figures
    statuses: list[Status]
    marks: list[str]
    counts: Figures | None = None
    tops: tuple[Figures, ...] = ()
    lower_levels: Figures | None = None
    upper_levels: Figures | None = None
    shares: tuple[Share, ...] = ()
    means: tuple[Share, ...] = ()
    totals: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    hierarchies: dict[str, str] = field(default_factory=dict[str, str])
    hidden_limits: tuple[int, int | None] | None = None
    printed: list[str] | None = None
    limits: Mapping[str, Limits] = field(default_factory=dict[str, Limits])
    outside: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    scheme: Scheme = EXACT
    stands_for: Mapping[int, Perturbed] = field(default_factory=dict[int, Perturbed])
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.figures)

    def __repr__(self) -> str:
        return f"CellRows({self.name!r}, {len(self):,} rows by {len(self.axes)} axes)"

    @property
    def n_hidden(self) -> int:
        """The number of hidden cells."""
        return sum(status.is_hidden for status in self.statuses)

    def span(self, row: int) -> tuple[Fraction, Fraction] | None:
        """Return the least and the largest figure that a row shows; None where it shows no such."""
        figure, told = self.figures[row], self.stands_for.get(row)
        if self.statuses[row] is Status.PERTURBED and told is not None:
            return None if told.high is None else (told.low, told.high)
        is_shown = figure is not None and self.statuses[row] is Status.SHOWN
        return (figure, figure) if is_shown and figure is not None else None

    @classmethod
    def typed(
        cls,
        axes: Sequence[str],
        rows: Sequence[Sequence[object]],
        name: str = "table",
        scheme: SchemeLike = EXACT,
    ) -> CellRows:
        """Return a table from rows of labels and a figure, None for a hidden one.

        Examples
        --------
        >>> CellRows.typed(["area"], [["Total", 5], ["A", 3], ["B", None]])
        CellRows('table', 3 rows by 1 axes)
        """
        labels = tuple([str(row[at]) for row in rows] for at in range(len(axes)))
        figures = [
            None if row[len(axes)] is None else Fraction(str(row[len(axes)])) for row in rows
        ]
        statuses = [
            Status(str(row[len(axes) + 1]))
            if len(row) > len(axes) + 1
            else (Status.HIDDEN if figure is None else Status.SHOWN)
            for row, figure in zip(rows, figures, strict=True)
        ]
        marks = [str(status) for status in statuses]
        made = parse_scheme(scheme)
        return cls(name, tuple(axes), labels, figures, statuses, marks, scheme=made)


_FIGURE_NAMES = (
    *COUNT_NAMES, "value", "total", "tot", "sum", "max", "freq", "weight", "mean", "share",
    "percent",
)  # fmt: skip
_STATUS_NAMES = ("status", "conf_status", "sdcstatus", "suppressed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column of a file is what.

    - `axes`: the axes; all columns that are nothing else by default.
    - `count`, `value`: the counts, or the values that are added up; with both, the values are what
      is published, and the counts tell how many contribute.
    - `status`, `status_kind`, `hidden_status`: the status of each cell, of which kind the statuses
      are, and which of them are hidden.
    - `tops`: the largest contributions, the largest first.
    - `lower`, `upper`: columns with the protection that each cell needs.
    - `percents`, `ratios`, `means`: columns with percentages and ratios, each with the axes whose
      sum is the whole (or AXIS:LABEL for the cell with that label), and with means.
    - `weight`: the weight of each row, which the figure is multiplied by.
    - `ignore`: columns that say nothing.
    - `wide`: the name of an axis whose labels are columns.
    - `hidden`: what stands for a hidden figure.
    - `said`: the texts of hidden figures, and statuses, of which a person says what they tell.
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
    scheme: SchemeLike = EXACT,
) -> CellRows:
    """Read a published table, one row per cell, or with the labels of one axis as columns.

    A figure that is not shown is marked (empty, `*`, `x`, `c`, `..`), or a status says so. Those that
    are shown were published under the scheme.
    """
    wanted = columns or Columns()
    made = parse_scheme(scheme)
    source = open_source(path, delimiter=delimiter, encoding=encoding, decimal=decimal, sheet=sheet)
    asked = f"The table in file {quoted([source.name])} was to be read."
    figure, status, axes = _chosen(source, wanted, asked)
    texts = _Texts(source, text_columns(source, source.names, asked))
    problems: list[Problem] = []
    if wanted.wide:
        return replace(_wide(texts, wanted, asked), scheme=made)
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
        scheme=made,
        notices=_told(limits, figures),
    )
    raise_all(asked, problems)
    return rows


def _marks(wanted: Columns) -> set[str]:
    return {mark.strip().casefold() for mark in (*HIDDEN_MARKS, *wanted.hidden)}


def _chosen(source: Source, wanted: Columns, asked: str) -> tuple[str, str, tuple[str, ...]]:
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
        texts.source.name, (*wanted.axes, wanted.wide), (*columns, labels_of), figures,
        [Status.HIDDEN if figure is None else Status.SHOWN for figure in figures],
        ["" for _ in figures], printed=printed, limits=limits, notices=_told(limits, figures),
    )  # fmt: skip
