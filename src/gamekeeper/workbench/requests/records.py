"""What people ask of a file of microdata, of models and samples of it, of files to be linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from gamekeeper import prompt_syntax
from gamekeeper.attack import options as asked
from gamekeeper.attack.linkage.options import LinkOptions, MaskingOptions, StructureOptions
from gamekeeper.attack.options import (
    MOST_CELLS,
    CategoriesOptions,
    DisOptions,
    FitOptions,
    InferOptions,
    MatchingOptions,
    MaxSeconds,
    MaxSize,
    MeasuresOptions,
    R,
    Seed,
    SpecialOptions,
    UniquesOptions,
    Whose,
    Workers,
)
from gamekeeper.options import Option, defaulting, option
from gamekeeper.results import Audience
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.workbench.requests import shared

_key = partial(Option, panel="Key variables")
_key_option = defaulting(_key)
_sample = defaulting(partial(Option, panel="The sample"))

Columns = Annotated[
    Mapping[str, str],
    _key(
        "VARIABLE=COLUMN where a key variable of the scenario has another name in the file.",
        flags="--column",
        read=partial(prompt_syntax.pairs_of, "--column VARIABLE=COLUMN"),
    ),
]
Values = Annotated[
    Path | None,
    _key("CSV with variable, value, category: what values mean that are not known by name."),
]
Unmapped = Annotated[
    Path | None,
    _key(
        "Where to write the values that fit no category, to be filled in for --values."
        " The file then has values of your data: keep it as safe as those.",
        writes="values",
    ),
]
Numbers = Annotated[
    tuple[str, ...],
    _key(
        "A key variable whose column has small whole numbers that are numbers of it, and no codes of"
        " bands: what may be either is asked about, never guessed."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MicrodataRequest:
    """Which file, how to read it, and what its keys are: columns, or a scenario's variables."""

    file: Annotated[
        Path,
        Option(
            "File of microdata: CSV, Parquet, SPSS (.sav, .por), Stata (.dta) or SAS (.sas7bdat,"
            " .xpt). It is read in place.",
            is_argument=True,
        ),
    ]
    keys: tuple[str, ...] = _key_option(
        (), "Columns to match on: Age,Sex,Region.", flags="--keys -k"
    )
    # From Python both may be given as they are, a Scenario and its Environment.
    scenario: str | Any = _key_option(
        "", "A scenario of stage one: its key variables, at its level of detail.", read=str
    )
    environment: StorePlace | Any | None = _key_option(
        None,
        "The store or folder that has the scenario.",
        flags="--environment -e",
        read=store_place,
    )
    columns: Columns = field(default_factory=dict[str, str])
    values: Values = None
    unmapped: Unmapped = None
    numbers: Numbers = ()
    missing: prompt_syntax.Missing = _key_option(
        prompt_syntax.Missing.CATEGORY,
        "What a missing cell is: category (a value of its own), ignore (never equal, never makes a"
        " record unique), wildcard (equals anything), exclude (the record is left out).",
    )
    recodes: tuple[str, ...] = _key_option(
        (),
        "VARIABLE=WAY to make a key variable coarser, and see before and after side by side:"
        " 'Age=0-15, 16-64, 65+', 'Age=width 5', 'Age=bottom 15, top 80', 'Work=first 2',"
        " 'Age=neighbours 3', 'Work=level 1', 'Work=code C9.002', 'Work=as Census', 'Region=North:"
        " A | B', 'Sex=together'. Nothing is written.",
        flags="--recode",
    )
    reading: shared.Reading = field(default_factory=shared.Reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleDesign:
    """How a file was drawn from the population."""

    weight: str = _sample("", "Column of sampling weights.")
    strata: str = _sample("", "Column of strata.")
    # From Python also a number, or a mapping of strata to their fractions.
    fraction: str | Any = _sample(
        "",
        "Sampling fraction: 0.02, 2% or 1/50; by stratum: 'North=2%, South=5%'. By default from"
        " the weights.",
        flags="--fraction -f",
        read=str,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfFile:
    """A file of microdata, how it was drawn, and where it is counted."""

    microdata: MicrodataRequest
    design: SampleDesign = field(default_factory=SampleDesign)
    counting: shared.EngineRequest = field(default_factory=shared.EngineRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRequest:
    """A first look at a file."""

    file: Annotated[Path, Option("File of microdata. It is read in place.", is_argument=True)]
    scenario: str = option("", "Suggest the key variables of this scenario.")
    environment: StorePlace | None = shared.environment_option(
        None, "The store or folder that has the scenario."
    )
    columns: Columns = field(default_factory=dict[str, str])
    unmapped: Unmapped = None
    numbers: Numbers = ()
    values: bool = option(
        False,
        "List the values of columns with up to 100 levels. What is printed is then as confidential"
        " as the file.",
    )
    reading: shared.Reading = field(default_factory=shared.Reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysRequest(OfFile):
    """Count the keys of a file."""

    sensitive: tuple[str, ...] = option(
        (), "A sensitive variable: count its values within classes."
    )
    output: Path | None = shared.table_option(
        None,
        "Write the classes to this .csv, .parquet or .xlsx; with a cluster, .parquet is a folder"
        " that it writes.",
        writes="counted",
        label="Classes",
    )
    report: shared.Report = None
    report_for: shared.ReportFor = Audience.INTERNAL
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DisRequest(OfFile):
    """Estimate what a unique match is worth."""

    dis: DisOptions = field(default_factory=DisOptions)
    original: Path | None = option(
        None,
        "The same records before they were perturbed, in the same order: the intruder has these"
        " (special method).",
    )
    plot: shared.Plot = None
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SudaRequest(OfFile):
    """Find special uniques, say why, write records and a report."""

    search: UniquesOptions = field(default_factory=UniquesOptions)
    top: shared.Top = 10
    explain: tuple[int, ...] = option(
        (), "Say why this record is unique (its number in the file, from 1)."
    )
    identifier: shared.Identifier = ""
    records: shared.CountedRecords = None
    msus: Path | None = option(
        None,
        "Write every minimal sample unique to this .csv, .parquet or .xlsx: its record, its"
        " variables and their categories.",
        writes="msus",
        label="Minimal sample uniques",
    )
    report: shared.Report = None
    report_for: shared.ReportFor = Audience.INTERNAL
    population: Path | None = option(
        None, "A file with everybody in it: the report then has what a match would cost."
    )
    report_records: shared.ReportRecords = True
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialRequest(OfFile):
    """Tell special from random uniques."""

    special: SpecialOptions = field(default_factory=SpecialOptions)
    population: shared.Population = None
    identifier: shared.Identifier = ""
    report: shared.Report = None
    report_for: shared.ReportFor = Audience.INTERNAL
    records: Path | None = option(
        None,
        "Write every sample unique and its kind to this .csv, .parquet or .xlsx.",
        writes="table",
        label="Every sample unique",
    )
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRequest(OfFile):
    """Compare ways to find a match."""

    matching: MatchingOptions = field(default_factory=MatchingOptions)
    population: shared.Population = None
    plot: shared.Plot = None
    report: shared.Report = None
    report_for: shared.ReportFor = Audience.INTERNAL
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuresRequest(OfFile):
    """Measure a file as offices and their software do."""

    measures: MeasuresOptions = field(default_factory=MeasuresOptions)
    population: Path | None = option(
        None, "A file with everybody in it: a journalist's risk is then counted, not estimated."
    )
    identifier: shared.Identifier = ""
    records: shared.CountedRecords = None
    plot: shared.Plot = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest(OfFile):
    """Fit models to the keys of a file."""

    fit: FitOptions = field(default_factory=FitOptions)
    plot: Path | None = option(
        None, "Write a plot to this .svg or .png.", writes="picture", label="Model graph"
    )
    replace: shared.Replace = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRequest(OfFile):
    """Fit models, and infer how many people share the key of each record."""

    fit: FitOptions = field(default_factory=FitOptions)
    infer: InferOptions = field(default_factory=InferOptions)
    person: Whose = ""
    population: shared.Population = None
    categories: str = option("", "A key variable whose categories to judge as well.")
    of_categories: CategoriesOptions = field(default_factory=CategoriesOptions)
    known: Mapping[str, str] = option(
        {},
        "VARIABLE=VALUE known of a person.",
        read=partial(prompt_syntax.pairs_of, "--known VARIABLE=VALUE"),
    )
    ask: tuple[str, ...] = option((), "Variable to infer from what is known.")
    ask_precision: float = option(
        1.0,
        "Prior precision of that inference; 0 for maximum likelihood, where values that do not"
        " occur together are impossible.",
        least=0,
    )
    most_cells: int = option(
        MOST_CELLS, "Refuse an inference that needs a table of more cells.", least=1
    )
    identifier: shared.Identifier = ""
    records: shared.CountedRecords = None
    top: shared.Top = 10
    report: shared.Report = None
    report_for: shared.ReportFor = Audience.INTERNAL
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """Judge measures of risk against the truth."""

    microdata: MicrodataRequest
    fractions: Annotated[tuple[str, ...], asked.COMPARED_FRACTIONS] = ("1%", "5%")
    samples: Annotated[int, asked.SAMPLES] = 1
    attacks: bool | None = option(
        None,
        "Try attacks over the range of sampling fractions as well, 1% to 90% as far as samples are"
        " not too large; by default with --report.",
        flags="--attacks/--no-attacks",
    )
    attack_fractions: Annotated[tuple[str, ...], asked.ATTACK_FRACTIONS] = ()
    attack_samples: Annotated[int, asked.ATTACK_SAMPLES] = 1
    measures: Annotated[tuple[str, ...], asked.COMPARED_MEASURES] = asked.DEFAULT_MEASURES
    stratify_by: Annotated[tuple[str, ...], asked.COMPARED_STRATA] = ()
    max_size: MaxSize = None
    max_seconds: MaxSeconds = prompt_syntax.MAX_SECONDS
    seed: Seed = 0
    workers: Workers = None
    folder: Annotated[Path | None, asked.COMPARED_FOLDER] = None
    report: Path | None = option(
        None, "Write figures, tables and timings to this HTML file.", writes="page", label="Report"
    )
    replace: shared.Replace = False


class ExperimentKind(StrEnum):
    """What is done with the samples of a simulation."""

    STRATEGIES = "strategies"
    FRACTIONS = "fractions"
    PILOT = "pilot"
    MEASURES = "measures"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRequest:
    """Take a file as everybody there is; what is left out is as the experiment has it."""

    microdata: MicrodataRequest
    experiment: ExperimentKind = option(
        ExperimentKind.FRACTIONS,
        "strategies: probability against cost of seven strategies. fractions: measures against the"
        " sampling fraction. pilot: do scores follow the true chance of a match? measures: any set"
        " of measures.",
    )
    fractions: Annotated[tuple[str, ...], asked.FRACTIONS] = ()
    samples: Annotated[int | None, asked.SAMPLES] = None
    measures: Annotated[tuple[str, ...], asked.MEASURES] = ()
    stratify_by: Annotated[tuple[str, ...], asked.STRATIFY_BY] = ()
    r: Annotated[int | None, R] = None
    max_size: MaxSize = None
    max_seconds: MaxSeconds = prompt_syntax.MAX_SECONDS
    with_models: Annotated[bool, asked.WITH_MODELS] = False
    seed: Seed = 0
    workers: Workers = None
    folder: Annotated[Path | None, asked.FOLDER] = None
    plot: shared.Plot = None
    output: Path | None = shared.table_option(
        None, "Write every number to this .csv, .parquet or .xlsx.", label="Every number"
    )
    replace: shared.Replace = False
    raw: shared.Raw = False


_COMPARE = "How records are compared"
_comparing = partial(Option, panel=_COMPARE)
_comparing_option = defaulting(_comparing)

_First = Annotated[Path, Option("The first file, such as a masked one.", is_argument=True)]
_Second = Annotated[Path, Option("The second file, such as the original.", is_argument=True)]
_Identifier = Annotated[str, Option("Column of both files that says who is who.", flags="--id")]

_Report = Annotated[
    Path | None,
    Option(
        "Write an HTML page: rates, curves, what carried the links.", writes="page", label="Written"
    ),
]


def _orders(typed: Sequence[str]) -> dict[str, list[str]]:
    pairs = prompt_syntax.pairs_of("--order COLUMN=LOW|MIDDLE|HIGH", typed)
    return {name: text.split("|") for name, text in pairs.items()}


_Order = Annotated[
    Mapping[str, Sequence[str]],
    _comparing("COLUMN=LOW|MIDDLE|HIGH: the order of an ordinal column.", read=_orders),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedColumns:
    """Which columns of two files are compared, and how; by the names in the first file."""

    on: Sequence[str] = option(
        (),
        "Columns to compare: Age,Sex. FIRST=SECOND where names differ between the first file named"
        " and the others. All common ones by default.",
        read=prompt_syntax.names_of,
    )
    identifier: _Identifier = ""
    kinds: Mapping[str, str] = _comparing_option(
        {},
        "COLUMN=KIND: number, ordinal, category, date, text, or mapped (by the partition graph of"
        " --environment). By default link files guesses it from the values, and link evaluate"
        " takes numbers and categories.",
        flags="--kind",
        read=partial(prompt_syntax.pairs_of, "--kind COLUMN=KIND"),
    )
    measures: Mapping[str, str] = _comparing_option(
        {},
        "COLUMN=MEASURE: of numbers standardized, absolute, squared, relative; of texts"
        " levenshtein, transposition, jaro-winkler.",
        flags="--measure",
        read=partial(prompt_syntax.pairs_of, "--measure COLUMN=MEASURE"),
    )
    missing: Mapping[str, str] = _comparing_option(
        {},
        "COLUMN=RULE for a missing value: expected, largest, zero, impossible, or a distance.",
        read=partial(prompt_syntax.pairs_of, "--missing COLUMN=RULE"),
    )
    order: _Order = field(default_factory=dict[str, Sequence[str]])
    weights: Mapping[str, float] = _comparing_option(
        {},
        "COLUMN=WEIGHT, for the objective weighted; 1 for others.",
        flags="--weight",
        read=partial(prompt_syntax.number_pairs_of, "--weight COLUMN=NUMBER"),
    )
    steps: Mapping[str, int] = _comparing_option(
        {},
        "COLUMN=NUMBER, for the objective lexicographic: into how many steps the largest distance"
        " is divided. By default 1 for categories, the range of whole numbers up to 1,000, and 100"
        " for others.",
        read=partial(prompt_syntax.whole_pairs_of, "--steps COLUMN=NUMBER"),
    )
    environment: StorePlace | None = shared.environment_option(
        None, "A store or folder of stage one, for mapped columns.", panel=_COMPARE
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRequest:
    """Two files that share variables are to be linked."""

    first: _First
    second: _Second
    columns: ComparedColumns = field(default_factory=ComparedColumns)
    options: LinkOptions = field(default_factory=LinkOptions)
    top: int = option(10, "Show so many of the surest links.", least=0)
    reading: shared.Reading = field(default_factory=shared.Reading)
    output: shared.WrittenTable = None
    plot: shared.WrittenPlot = None
    report: _Report = None
    report_values: bool = option(
        False, "Show values of the two files beside the examples of the report."
    )
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRequest:
    """Masked versions of a file are to be linked with it."""

    original: Annotated[Path, Option("The original file.", is_argument=True)]
    masked: Annotated[tuple[Path, ...], Option("Masked versions of it.", is_argument=True)]
    columns: ComparedColumns = field(default_factory=ComparedColumns)
    options: MaskingOptions = field(default_factory=MaskingOptions)
    reading: shared.Reading = field(default_factory=shared.Reading)
    output: shared.WrittenTable = None
    plot: shared.WrittenPlot = None
    report: _Report = None
    replace: shared.Replace = False
    raw: shared.Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureRequest:
    """Two files without common variables are to be linked by the structure they share."""

    first: _First
    second: _Second
    columns: Sequence[str] = option(
        (),
        "Columns of the first file; all but the identifier by default.",
        read=prompt_syntax.names_of,
    )
    others: Sequence[str] = option((), "Columns of the second file.", read=prompt_syntax.names_of)
    identifier: _Identifier = ""
    environment: Path | None = option(
        None,
        "A store or folder of stage one: columns with the name of a variable there are compared by"
        " its partition graph.",
        flags="--environment -e",
    )
    order: _Order = field(default_factory=dict[str, Sequence[str]])
    options: StructureOptions = field(default_factory=StructureOptions)
    reading: shared.Reading = field(default_factory=shared.Reading)
    output: shared.WrittenTable = None
    plot: shared.WrittenPlot = None
    report: _Report = None
    replace: shared.Replace = False
    raw: shared.Raw = False
