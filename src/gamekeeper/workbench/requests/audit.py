"""What people ask of an audit: where tables are and how they are written, what adds up, which rules hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from gamekeeper.attack.tables.audit.marking import MarkingOptions
from gamekeeper.attack.tables.audit.options import AuditOptions
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import names_of, pairs_of
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.workbench.requests.reading import Decimal, Delimiter, Encoding
from gamekeeper.workbench.requests.shared import Memory, NoRecords, Raw, Replace, WrittenPage

_COLUMNS = "Which column is what"
_SUMS = "What adds up"
_PANEL = "How the tables are written"
_INSIDERS = "Attackers who are in the tables"

_Environment = Annotated[
    StorePlace | None,
    Option(
        "The environment with the variables that --hierarchy names.",
        flags="--environment -e",
        panel=_SUMS,
        read=store_place,
    ),
]
_Sheet = Annotated[
    str | None, Option("Of an Excel workbook, where several sheets have cells.", panel=_PANEL)
]


def _hierarchies(typed: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for text in typed:
        for axis, given in pairs_of("--hierarchy AXIS=FILE", [text]).items():
            found[axis] = (*found.get(axis, ()), given)
    return found


def _percents(typed: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    pairs = pairs_of("--percent COLUMN=AXIS,AXIS", typed)
    return tuple((column, names_of([axes])) for column, axes in pairs.items())


def _ratios(typed: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    pairs = pairs_of("--ratio COLUMN=AXIS:LABEL", typed)
    return tuple((column, names_of([axes])) for column, axes in pairs.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRequest:
    """Published tables of one base, and how they are written."""

    files: Annotated[
        tuple[Path, ...],
        Option(
            "Published tables of one base, one row per cell: text (CSV), workbooks, Parquet, tables of"
            " tau-ARGUS (.tab with its .rda beside it, or the .arb that names them) or a release (.json)."
            " Earlier versions too.",
            is_argument=True,
        ),
    ]
    axes: Annotated[
        Sequence[str],
        Option("The columns that are axes: Area,Age. Columns that a file does not have are passed over there.",
               panel=_COLUMNS, read=names_of),
    ] = ()  # fmt: skip
    count: Annotated[
        str,
        Option(
            "The column of counts; beside --value, how many contribute to each cell.",
            panel=_COLUMNS,
        ),
    ] = ""
    value: Annotated[
        str, Option("The column of values that were added up, such as turnover.", panel=_COLUMNS)
    ] = ""
    status: Annotated[
        str,
        Option("The column that says which cells are hidden; their figures are then not used against them.",
               panel=_COLUMNS),
    ] = ""  # fmt: skip
    status_kind: Annotated[
        str | None,
        Option(
            "Whose statuses they are: argus, numbers, sbs, sdctable, sdmx, yes-no, acro.",
            panel=_COLUMNS,
        ),
    ] = None
    hidden_status: Annotated[
        Sequence[str],
        Option("The statuses that stand for hidden: A,B,D.", panel=_COLUMNS, read=names_of),
    ] = ()
    largest: Annotated[
        Sequence[str],
        Option("Columns with the largest contributions to each cell, the largest first.", panel=_COLUMNS,
               read=names_of),
    ] = ()  # fmt: skip
    lower_level: Annotated[
        str,
        Option(
            "The column that says how far below its figure a cell must be left open.",
            panel=_COLUMNS,
        ),
    ] = ""
    upper_level: Annotated[
        str,
        Option(
            "The column that says how far above its figure a cell must be left open.",
            panel=_COLUMNS,
        ),
    ] = ""
    percents: Annotated[
        Sequence[tuple[str, tuple[str, ...]]],
        Option(
            "A column of published percentages, and the axes over which they add up to 100: pct=Work.",
            flags="--percent", panel=_COLUMNS, read=_percents,
        ),
    ] = ()  # fmt: skip
    ratios: Annotated[
        Sequence[tuple[str, tuple[str, ...]]],
        Option(
            "A column of published ratios, and the label whose figure they are a ratio to, such as women per"
            " man: ratio=Sex:men. An axis alone stands for its whole.",
            flags="--ratio", panel=_COLUMNS, read=_ratios,
        ),
    ] = ()  # fmt: skip
    means: Annotated[
        Sequence[str],
        Option("A column of published means: the value over the count.", flags="--mean", panel=_COLUMNS,
               read=names_of),
    ] = ()  # fmt: skip
    weight: Annotated[str, Option("A column that figures are multiplied by.", panel=_COLUMNS)] = ""
    ignore: Annotated[
        Sequence[str], Option("Columns that say nothing.", panel=_COLUMNS, read=names_of)
    ] = ()
    wide: Annotated[
        str,
        Option(
            "What the axis is called whose labels are columns, where a file is wide.",
            panel=_COLUMNS,
        ),
    ] = ""
    hierarchies: Annotated[
        Mapping[str, tuple[str, ...]],
        Option(
            "Which labels of an axis are sums of others: Code=FILE (.hrc, or CSV with a column 'parent' or"
            " one column per level), Code=codes (a code begins with that of its whole), Code=detected"
            " (take the sums that are found), or Age=variable:Age (the partition graph of --environment)."
            " Several of one axis need not be nested.",
            flags="--hierarchy", panel=_SUMS, read=_hierarchies,
        ),
    ] = field(default_factory=dict[str, tuple[str, ...]])  # fmt: skip
    environment: _Environment = None
    total: Annotated[
        tuple[str, ...],
        Option("The label that stands for a whole axis.", panel=_SUMS, default_text="Total"),
    ] = ("Total",)
    disjoint: Annotated[
        Sequence[str],
        Option(
            "Axes in which nobody is counted under two labels, although some look like sums of others.",
            panel=_SUMS, read=names_of,
        ),
    ] = ()  # fmt: skip
    absent: Annotated[
        str,
        Option("What a cell without a row means, beside others that have one: error, zero or hidden.",
               panel=_SUMS),
    ] = "error"  # fmt: skip
    apriori: Annotated[
        Path | None,
        Option("What was decided before (.hst of tau-ARGUS): statuses and levels of single cells.",
               panel=_PANEL),
    ] = None  # fmt: skip
    hidden: Annotated[
        tuple[str, ...],
        Option(
            "What stands for a hidden figure, besides an empty cell, *, x, c and '..'.",
            panel=_PANEL,
        ),
    ] = ()
    sheet: _Sheet = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    memory: Memory = None
    no_records: NoRecords = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Published tables are to be audited."""

    published: PublishedRequest
    options: AuditOptions = field(default_factory=AuditOptions)
    contributors: Annotated[
        Path | None,
        Option(
            "Records, one per unit, with columns named as the axes and as --value: who contributes how much"
            " to which cell, for --insiders.",
            panel=_INSIDERS,
        ),
    ] = None
    contribution: Annotated[
        str,
        Option("The column of the records that was added up, if it is not named as --value.",
               panel=_INSIDERS),
    ] = ""  # fmt: skip
    holding: Annotated[
        str,
        Option(
            "To which holding a record belongs; its records are one contributor.", panel=_INSIDERS
        ),
    ] = ""
    top: Annotated[
        int, Option("Show so many of the hidden cells that are known best.", least=0)
    ] = 10
    output: Annotated[
        Path | None,
        Option("Write all hidden cells to this .csv, .parquet or .xlsx.", flags="--output -o",
               writes="table", label="Written"),
    ] = None  # fmt: skip
    report: WrittenPage = None
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRequest:
    """A file of records is to be added up, and unsafe cells are to be marked."""

    file: Annotated[
        Path,
        Option(
            "Records, one per unit: text (CSV), a workbook or Parquet; or a batch file of tau-ARGUS (.arb)"
            " about records, which then says the rest.",
            is_argument=True,
        ),
    ]
    axes: Annotated[
        Sequence[str],
        Option("The columns to add up by: Activity,Size.", panel=_COLUMNS, read=names_of),
    ] = ()
    value: Annotated[
        str, Option("The column that is added up; without one, units are counted.", panel=_COLUMNS)
    ] = ""
    weight: Annotated[str, Option("The weight of each record.", panel=_COLUMNS)] = ""
    holding: Annotated[
        str,
        Option("To which holding a record belongs; what one holding adds to a cell is one contribution.",
               panel=_COLUMNS),
    ] = ""  # fmt: skip
    request: Annotated[
        str,
        Option(
            "The column that says who asked for protection (for the rule request).", panel=_COLUMNS
        ),
    ] = ""
    shadow: Annotated[
        str,
        Option("The column whose contributions the rules look at, instead of those to --value.",
               panel=_COLUMNS),
    ] = ""  # fmt: skip
    hierarchies: Annotated[
        Mapping[str, tuple[str, ...]],
        Option(
            "Which categories of an axis add up to others: Activity=FILE (.hrc, or CSV with a column"
            " 'parent' or one column per level), or Age=variable:Age.",
            flags="--hierarchy", panel=_SUMS, read=_hierarchies,
        ),
    ] = field(default_factory=dict[str, tuple[str, ...]])  # fmt: skip
    environment: _Environment = None
    total: Annotated[str, Option("What the whole of an axis is called.", panel=_SUMS)] = "Total"
    options: MarkingOptions = field(default_factory=MarkingOptions)
    top: Annotated[int, Option("Show so many unsafe cells.", least=0)] = 10
    output: Annotated[
        Path | None,
        Option("Write all cells with their status to this .csv, .parquet or .xlsx, as audit reads it.",
               flags="--output -o", writes="table", label="Written"),
    ] = None  # fmt: skip
    replace: Replace = False
    raw: Raw = False
    sheet: _Sheet = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    memory: Memory = None
    no_records: NoRecords = False
