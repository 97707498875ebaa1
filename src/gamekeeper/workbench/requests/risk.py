"""What people ask of a file of microdata that may be released: its keys, DIS, uniques, matching."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from gamekeeper.attack.matching.options import MatchingOptions
from gamekeeper.attack.measures.options import MeasuresOptions
from gamekeeper.attack.uniques.options import DisOptions, SpecialOptions, UniquesOptions
from gamekeeper.options import Option
from gamekeeper.report.audience import Audience
from gamekeeper.workbench.requests.counting import EngineRequest
from gamekeeper.workbench.requests.microdata import MicrodataRequest, SampleDesign
from gamekeeper.workbench.requests.shared import (
    CountedRecords,
    Identifier,
    Plot,
    Population,
    Raw,
    Replace,
    Report,
    ReportFor,
    ReportRecords,
    Top,
    table_output,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysRequest:
    """Count the keys of a file."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    sensitive: Annotated[
        tuple[str, ...], Option("A sensitive variable: count its values within classes.")
    ] = ()
    output: Annotated[
        Path | None,
        table_output(
            "Write the classes to this .csv, .parquet or .xlsx; with a cluster, .parquet is a folder"
            " that it writes.",
            writes="counted",
            label="Classes",
        ),
    ] = None
    report: Report = None
    report_for: ReportFor = Audience.INTERNAL
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DisRequest:
    """Estimate what a unique match is worth."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    dis: DisOptions = field(default_factory=DisOptions)
    original: Annotated[
        Path | None,
        Option(
            "The same records before they were perturbed, in the same order: the intruder has"
            " these (special method)."
        ),
    ] = None
    plot: Plot = None
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SudaRequest:
    """Find special uniques, say why, write records and a report."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    search: UniquesOptions = field(default_factory=UniquesOptions)
    top: Top = 10
    explain: Annotated[
        tuple[int, ...],
        Option("Say why this record is unique (its number in the file, from 1)."),
    ] = ()
    identifier: Identifier = ""
    records: CountedRecords = None
    msus: Annotated[
        Path | None,
        Option(
            "Write every minimal sample unique to this .csv, .parquet or .xlsx: its record, its"
            " variables and their categories.",
            writes="msus",
            label="Minimal sample uniques",
        ),
    ] = None
    report: Report = None
    report_for: ReportFor = Audience.INTERNAL
    population: Annotated[
        Path | None,
        Option("A file with everybody in it: the report then has what a match would cost."),
    ] = None
    report_records: ReportRecords = True
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialRequest:
    """Tell special from random uniques."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    special: SpecialOptions = field(default_factory=SpecialOptions)
    population: Population = None
    identifier: Identifier = ""
    report: Report = None
    report_for: ReportFor = Audience.INTERNAL
    records: Annotated[
        Path | None,
        Option(
            "Write every sample unique and its kind to this .csv, .parquet or .xlsx.",
            writes="table",
            label="Every sample unique",
        ),
    ] = None
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRequest:
    """Compare ways to find a match."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    matching: MatchingOptions = field(default_factory=MatchingOptions)
    population: Population = None
    plot: Plot = None
    report: Report = None
    report_for: ReportFor = Audience.INTERNAL
    replace: Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuresRequest:
    """Measure a file as offices and their software do."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: EngineRequest = field(default_factory=EngineRequest)
    measures: MeasuresOptions = field(default_factory=MeasuresOptions)
    population: Annotated[
        Path | None,
        Option("A file with everybody in it: a journalist's risk is then counted, not estimated."),
    ] = None
    identifier: Identifier = ""
    records: CountedRecords = None
    plot: Plot = None
    replace: Replace = False
    raw: Raw = False
