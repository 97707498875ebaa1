"""What people ask of tables: of released counts, and of an audit or marking of published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

from gamekeeper.attack.options import Seed
from gamekeeper.attack.tables.auditing import MarkingOptions
from gamekeeper.attack.tables.options import (
    AttributionOptions,
    AuditOptions,
    BoundsOptions,
    ComparisonOptions,
    FeasibleOptions,
    Recoding,
    SubtractionOptions,
)
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import names_of, pairs_of
from gamekeeper.store.place import StorePlace
from gamekeeper.workbench.requests import shared
from gamekeeper.workbench.requests.records import MicrodataRequest

_writing = partial(Option, panel="How the tables are written")

_Count = Annotated[str, _writing("The column of counts, if it is not called n or count.")]
_Total = Annotated[
    tuple[str, ...], _writing("The category that stands for a total.", default_text="Total")
]
_Disjoint = Annotated[
    Sequence[str],
    _writing(
        "Axes in which nobody is counted under two labels, although some look like sums of"
        " others: Code,Area.",
        read=names_of,
    ),
]


_Schemes = Annotated[
    tuple[str, ...],
    _writing(
        "How the figures of text files were published: exact, conventional:5, conventional:4:up, random:3,"
        " barnardization:0.8, suppressed:5, interval. Once for all files, or once for each.",
        flags="--scheme",
        default_text="exact",
    ),
]
_Truth = Annotated[
    Path | None, _writing("Text file with the true counts, where the release does not hold them.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """Where a release is, and how it is written."""

    files: Annotated[
        tuple[Path, ...],
        Option(
            "A release (.json), or text files (CSV) with one row per cell. A cell with the label of"
            " totals belongs to a margin.",
            is_argument=True,
        ),
    ]
    schemes: _Schemes = ()
    count: _Count = ""
    axes: Annotated[
        Sequence[str],
        _writing(
            "The columns that are axes: Area,Age. All but that of the counts by default.",
            read=names_of,
        ),
    ] = ()
    total: _Total = ("Total",)
    hidden: Annotated[
        tuple[str, ...],
        _writing("What stands for a hidden count, besides an empty cell, *, x, c and '..'."),
    ] = ()
    absent: Annotated[str, _writing("What a cell without a row means: error, zero or hidden.")] = (
        "error"
    )
    disjoint: _Disjoint = ()
    truth: _Truth = None
    delimiter: shared.Delimiter = None
    encoding: shared.Encoding = None
    decimal: shared.Decimal = None
    memory: shared.Memory = None
    no_records: shared.NoRecords = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishRequest:
    """A file of microdata is to be counted, and tables of it are to be published."""

    microdata: MicrodataRequest
    counting: shared.EngineRequest = field(default_factory=shared.EngineRequest)
    output: Annotated[
        Path, Option("Write the release to this .json.", flags="--output -o", writes="json")
    ] = Path("release.json")
    margins: Annotated[
        Sequence[Sequence[str]],
        Option(
            "Variables of a published table: Age,Sex. Empty ('') for the total. By default one table"
            " of all keys.",
            flags="--margin",
            read=lambda typed: tuple(names_of([text]) for text in typed),
        ),
    ] = ()
    schemes: Annotated[
        tuple[str, ...],
        Option(
            "How counts are published: exact, conventional:5, random:3, barnardization:0.8,"
            " suppressed:5. Once for all tables, or once for each.",
            flags="--scheme",
            default_text="exact",
        ),
    ] = ("exact",)
    with_truth: Annotated[
        bool,
        Option(
            "Keep the true counts in the file, for 'tables sap'. It is then as confidential as the"
            " data: never publish it.",
            flags="--truth",
        ),
    ] = False
    even_if_recomputed: Annotated[
        bool,
        Option(
            "Write the release although hidden counts can be recomputed from it, or are not shown not to"
            " be. Without it, nothing is written then."
        ),
    ] = False
    seed: Seed = 0
    title: Annotated[str, Option("What the release is called.")] = ""
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibleRequest:
    """The tables that agree with a release are to be counted and weighed."""

    release: ReleaseRequest
    options: FeasibleOptions = field(default_factory=FeasibleOptions)
    top: Annotated[int, Option("Show so many cells.", least=0)] = 20
    output: shared.WrittenTable = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRequest:
    """What is certain of people is to be said."""

    release: ReleaseRequest
    options: AttributionOptions = field(default_factory=AttributionOptions)
    top: Annotated[int, Option("Print so many statements.", least=0)] = 20
    output: shared.WrittenTable = None
    report: shared.WrittenPage = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SapRequest:
    """What somebody recovers who knows people of the table, or of each area or key, is sought."""

    release: ReleaseRequest
    options: SubtractionOptions = field(default_factory=SubtractionOptions)
    within: Annotated[
        Sequence[str], Option("An area, or key variables: SAP of the table of each.", read=names_of)
    ] = ()
    anywhere: Annotated[
        bool,
        Option(
            "With --within: the people known are of the whole population, not of the same area."
        ),
    ] = False
    output: shared.WrittenTable = None
    plot: shared.WrittenPlot = None
    report: shared.WrittenPage = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest:
    """Schemes are to be compared on random tables."""

    schemes: Annotated[
        tuple[str, ...],
        Option("Schemes: conventional:5, random:3, barnardization:0.8, exact.", is_argument=True),
    ]
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    margins: Annotated[
        tuple[str, ...],
        Option(
            "Axes of a published margin, from 1: '1,2' is a table, '1' its rows, '' the total. By"
            " default the table and its total.",
            flags="--margin",
        ),
    ] = ()
    memory: shared.Memory = None
    output: shared.WrittenTable = None
    plot: shared.WrittenPlot = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsRequest:
    """A table of true counts is to be written as records, one per unit."""

    file: Annotated[
        Path, Option("Text file (CSV) with the true counts, one row per cell.", is_argument=True)
    ]
    output: Annotated[
        Path, shared.table_output("Write the records to this .csv, .parquet or .xlsx.")
    ]
    count: _Count = ""
    axes: Annotated[
        Sequence[str], _writing("The columns that are axes: Area,Age.", read=names_of)
    ] = ()
    total: _Total = ("Total",)
    disjoint: _Disjoint = ()
    delimiter: shared.Delimiter = None
    encoding: shared.Encoding = None
    decimal: shared.Decimal = None
    memory: shared.Memory = None
    replace: shared.Replace = False
    raw: shared.Raw = False


_column = partial(Option, panel="Which column is what")
_SUMS = "What adds up"
_sum = partial(Option, panel=_SUMS)
_insider = partial(Option, panel="Attackers who are in the tables")

_Environment = Annotated[
    StorePlace | None,
    shared.in_environment(
        "The environment with the variables that --hierarchy names.", panel=_SUMS
    ),
]
_Sheet = Annotated[str | None, _writing("Of an Excel workbook, where several sheets have cells.")]


def _hierarchies(typed: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for text in typed:
        for axis, given in pairs_of("--hierarchy AXIS=FILE", [text]).items():
            found[axis] = (*found.get(axis, ()), given)
    return found


def _with_names(option: str, typed: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    pairs = pairs_of(option, typed)
    return tuple((column, names_of([names])) for column, names in pairs.items())


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
        _column(
            "The columns that are axes: Area,Age. Columns that a file does not have are passed over there.",
            read=names_of,
        ),
    ] = ()
    count: Annotated[
        str, _column("The column of counts; beside --value, how many contribute to each cell.")
    ] = ""
    value: Annotated[str, _column("The column of values that were added up, such as turnover.")] = (
        ""
    )
    status: Annotated[
        str,
        _column(
            "The column that says which cells are hidden; their figures are then not used against them."
        ),
    ] = ""
    status_kind: Annotated[
        str | None,
        _column("Whose statuses they are: argus, numbers, sbs, sdctable, sdmx, yes-no, acro."),
    ] = None
    hidden_status: Annotated[
        Sequence[str], _column("The statuses that stand for hidden: A,B,D.", read=names_of)
    ] = ()
    largest: Annotated[
        Sequence[str],
        _column(
            "Columns with the largest contributions to each cell, the largest first.", read=names_of
        ),
    ] = ()
    lower_level: Annotated[
        str, _column("The column that says how far below its figure a cell must be left open.")
    ] = ""
    upper_level: Annotated[
        str, _column("The column that says how far above its figure a cell must be left open.")
    ] = ""
    percents: Annotated[
        Sequence[tuple[str, tuple[str, ...]]],
        _column(
            "A column of published percentages, and the axes over which they add up to 100: pct=Work.",
            flags="--percent",
            read=partial(_with_names, "--percent COLUMN=AXIS,AXIS"),
        ),
    ] = ()
    ratios: Annotated[
        Sequence[tuple[str, tuple[str, ...]]],
        _column(
            "A column of published ratios, and the label whose figure they are a ratio to, such as women per"
            " man: ratio=Sex:men. An axis alone stands for its whole.",
            flags="--ratio",
            read=partial(_with_names, "--ratio COLUMN=AXIS:LABEL"),
        ),
    ] = ()
    means: Annotated[
        Sequence[str],
        _column(
            "A column of published means: the value over the count.", flags="--mean", read=names_of
        ),
    ] = ()
    weight: Annotated[str, _column("A column that figures are multiplied by.")] = ""
    ignore: Annotated[Sequence[str], _column("Columns that say nothing.", read=names_of)] = ()
    wide: Annotated[
        str, _column("What the axis is called whose labels are columns, where a file is wide.")
    ] = ""
    hierarchies: Annotated[
        Mapping[str, tuple[str, ...]],
        _sum(
            "Which labels of an axis are sums of others: Code=FILE (.hrc, or CSV with a column 'parent' or"
            " one column per level), Code=codes (a code begins with that of its whole), Code=detected"
            " (take the sums that are found), or Age=variable:Age (the partition graph of --environment)."
            " Several of one axis need not be nested.",
            flags="--hierarchy",
            read=_hierarchies,
        ),
    ] = field(default_factory=dict[str, tuple[str, ...]])
    environment: _Environment = None
    total: Annotated[
        tuple[str, ...], _sum("The label that stands for a whole axis.", default_text="Total")
    ] = ("Total",)
    disjoint: Annotated[
        Sequence[str],
        _sum(
            "Axes in which nobody is counted under two labels, although some look like sums of others.",
            read=names_of,
        ),
    ] = ()
    absent: Annotated[
        str,
        _sum(
            "What a cell without a row means, beside others that have one: error, zero or hidden."
        ),
    ] = "error"
    apriori: Annotated[
        Path | None,
        _writing(
            "What was decided before (.hst of tau-ARGUS): statuses and levels of single cells."
        ),
    ] = None
    schemes: _Schemes = ()
    hidden: Annotated[
        tuple[str, ...],
        _writing("What stands for a hidden figure, besides an empty cell, *, x, c and '..'."),
    ] = ()
    sheet: _Sheet = None
    delimiter: shared.Delimiter = None
    encoding: shared.Encoding = None
    decimal: shared.Decimal = None
    memory: shared.Memory = None
    no_records: shared.NoRecords = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsRequest:
    """Cells are to be bounded by everything that is published."""

    tables: PublishedRequest
    truth: _Truth = None
    options: BoundsOptions = field(default_factory=BoundsOptions)
    recoding: Recoding = field(default_factory=Recoding)
    top: Annotated[int, Option("Show so many of the best known cells.", least=0)] = 20
    output: shared.WrittenTable = None
    plot: shared.WrittenPlot = None
    report: shared.WrittenPage = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Published tables are to be audited."""

    published: PublishedRequest
    options: AuditOptions = field(default_factory=AuditOptions)
    contributors: Annotated[
        Path | None,
        _insider(
            "Records, one per unit, with columns named as the axes and as --value: who contributes how much"
            " to which cell, for --insiders."
        ),
    ] = None
    contribution: Annotated[
        str, _insider("The column of the records that was added up, if it is not named as --value.")
    ] = ""
    holding: Annotated[
        str, _insider("To which holding a record belongs; its records are one contributor.")
    ] = ""
    top: Annotated[
        int, Option("Show so many of the hidden cells that are known best.", least=0)
    ] = 10
    output: Annotated[
        Path | None, shared.table_output("Write all hidden cells to this .csv, .parquet or .xlsx.")
    ] = None
    report: shared.WrittenPage = None
    replace: shared.Replace = False
    raw: shared.Raw = False


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
        Sequence[str], _column("The columns to add up by: Activity,Size.", read=names_of)
    ] = ()
    value: Annotated[
        str, _column("The column that is added up; without one, units are counted.")
    ] = ""
    weight: Annotated[str, _column("The weight of each record.")] = ""
    holding: Annotated[
        str,
        _column(
            "To which holding a record belongs; what one holding adds to a cell is one contribution."
        ),
    ] = ""
    request: Annotated[
        str, _column("The column that says who asked for protection (for the rule request).")
    ] = ""
    shadow: Annotated[
        str,
        _column("The column whose contributions the rules look at, instead of those to --value."),
    ] = ""
    hierarchies: Annotated[
        Mapping[str, tuple[str, ...]],
        _sum(
            "Which categories of an axis add up to others: Activity=FILE (.hrc, or CSV with a column"
            " 'parent' or one column per level), or Age=variable:Age.",
            flags="--hierarchy",
            read=_hierarchies,
        ),
    ] = field(default_factory=dict[str, tuple[str, ...]])
    environment: _Environment = None
    total: Annotated[str, _sum("What the whole of an axis is called.")] = "Total"
    options: MarkingOptions = field(default_factory=MarkingOptions)
    top: Annotated[int, Option("Show so many unsafe cells.", least=0)] = 10
    output: Annotated[
        Path | None,
        shared.table_output(
            "Write all cells with their status to this .csv, .parquet or .xlsx, as audit reads it."
        ),
    ] = None
    replace: shared.Replace = False
    raw: shared.Raw = False
    sheet: _Sheet = None
    delimiter: shared.Delimiter = None
    encoding: shared.Encoding = None
    decimal: shared.Decimal = None
    memory: shared.Memory = None
    no_records: shared.NoRecords = False
