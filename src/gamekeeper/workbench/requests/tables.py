"""What people ask of released tables: where they are and how they are written, what is sought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

from gamekeeper.attack.shared_options import Seed
from gamekeeper.attack.tables.options import (
    AttributionOptions,
    BoundsOptions,
    ComparisonOptions,
    FeasibleOptions,
    Recoding,
    SubtractionOptions,
)
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import names_of
from gamekeeper.workbench.requests.counting import EngineRequest
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.requests.reading import Decimal, Delimiter, Encoding
from gamekeeper.workbench.requests.shared import (
    Memory,
    NoRecords,
    Raw,
    Replace,
    WrittenPage,
    WrittenPlot,
    WrittenTable,
    table_output,
)

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
    scheme: Annotated[
        str,
        _writing(
            "How counts of text files were published: exact, conventional:5, conventional:4:up,"
            " random:3, barnardization:0.8, suppressed:5, interval."
        ),
    ] = "exact"
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
    truth: Annotated[
        Path | None,
        _writing("Text file with the true counts, where the release does not hold them."),
    ] = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    memory: Memory = None
    no_records: NoRecords = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishRequest:
    """A file of microdata is to be counted, and tables of it are to be published."""

    microdata: MicrodataRequest
    counting: EngineRequest = field(default_factory=EngineRequest)
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
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsRequest:
    """Cells are to be bounded by everything that is published."""

    release: ReleaseRequest
    options: BoundsOptions = field(default_factory=BoundsOptions)
    recoding: Recoding = field(default_factory=Recoding)
    top: Annotated[int, Option("Show so many of the best known cells.", least=0)] = 20
    output: WrittenTable = None
    plot: WrittenPlot = None
    report: WrittenPage = None
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibleRequest:
    """The tables that agree with a release are to be counted and weighed."""

    release: ReleaseRequest
    options: FeasibleOptions = field(default_factory=FeasibleOptions)
    top: Annotated[int, Option("Show so many cells.", least=0)] = 20
    output: WrittenTable = None
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRequest:
    """What is certain of people is to be said."""

    release: ReleaseRequest
    options: AttributionOptions = field(default_factory=AttributionOptions)
    top: Annotated[int, Option("Print so many statements.", least=0)] = 20
    output: WrittenTable = None
    report: WrittenPage = None
    replace: Replace = False
    raw: Raw = False


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
    output: WrittenTable = None
    plot: WrittenPlot = None
    report: WrittenPage = None
    replace: Replace = False
    raw: Raw = False


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
    memory: Memory = None
    output: WrittenTable = None
    plot: WrittenPlot = None
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsRequest:
    """A table of true counts is to be written as records, one per unit."""

    file: Annotated[
        Path, Option("Text file (CSV) with the true counts, one row per cell.", is_argument=True)
    ]
    output: Annotated[Path, table_output("Write the records to this .csv, .parquet or .xlsx.")]
    count: _Count = ""
    axes: Annotated[
        Sequence[str], _writing("The columns that are axes: Area,Age.", read=names_of)
    ] = ()
    total: _Total = ("Total",)
    disjoint: _Disjoint = ()
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    memory: Memory = None
    replace: Replace = False
    raw: Raw = False
