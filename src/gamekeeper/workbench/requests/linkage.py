"""What people ask of linkage: which files, which columns and how they are compared, where to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

from gamekeeper.attack.linkage.options import LinkOptions, MaskingOptions, StructureOptions
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import names_of, number_pairs_of, pairs_of, whole_pairs_of
from gamekeeper.store.place import StorePlace
from gamekeeper.workbench.requests.reading import Reading
from gamekeeper.workbench.requests.shared import (
    Raw,
    Replace,
    WrittenPlot,
    WrittenTable,
    in_environment,
)

_COMPARE = "How records are compared"
_comparing = partial(Option, panel=_COMPARE)

_First = Annotated[Path, Option("The first file, such as a masked one.", is_argument=True)]
_Second = Annotated[Path, Option("The second file, such as the original.", is_argument=True)]
_Identifier = Annotated[str, Option("Column of both files that says who is who.", flags="--id")]

_Report = Annotated[
    Path | None,
    Option(
        "Write an HTML page: rates, curves, what carried the links.",
        writes="page",
        label="Written",
    ),
]


def _orders(typed: Sequence[str]) -> dict[str, list[str]]:
    pairs = pairs_of("--order COLUMN=LOW|MIDDLE|HIGH", typed)
    return {name: text.split("|") for name, text in pairs.items()}


_Order = Annotated[
    Mapping[str, Sequence[str]],
    _comparing("COLUMN=LOW|MIDDLE|HIGH: the order of an ordinal column.", read=_orders),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedColumns:
    """Which columns of two files are compared, and how; by the names in the first file."""

    on: Annotated[
        Sequence[str],
        Option(
            "Columns to compare: Age,Sex. FIRST=SECOND where names differ between the first file"
            " named and the others. All common ones by default.",
            read=names_of,
        ),
    ] = ()
    identifier: _Identifier = ""
    kinds: Annotated[
        Mapping[str, str],
        _comparing(
            "COLUMN=KIND: number, ordinal, category, date, text, or mapped (by the partition graph"
            " of --environment). By default link files guesses it from the values, and link evaluate"
            " takes numbers and categories.",
            flags="--kind",
            read=partial(pairs_of, "--kind COLUMN=KIND"),
        ),
    ] = field(default_factory=dict[str, str])
    measures: Annotated[
        Mapping[str, str],
        _comparing(
            "COLUMN=MEASURE: of numbers standardized, absolute, squared, relative; of texts"
            " levenshtein, transposition, jaro-winkler.",
            flags="--measure",
            read=partial(pairs_of, "--measure COLUMN=MEASURE"),
        ),
    ] = field(default_factory=dict[str, str])
    missing: Annotated[
        Mapping[str, str],
        _comparing(
            "COLUMN=RULE for a missing value: expected, largest, zero, impossible, or a distance.",
            read=partial(pairs_of, "--missing COLUMN=RULE"),
        ),
    ] = field(default_factory=dict[str, str])
    order: _Order = field(default_factory=dict[str, Sequence[str]])
    weights: Annotated[
        Mapping[str, float],
        _comparing(
            "COLUMN=WEIGHT, for the objective weighted; 1 for others.",
            flags="--weight",
            read=partial(number_pairs_of, "--weight COLUMN=NUMBER"),
        ),
    ] = field(default_factory=dict[str, float])
    steps: Annotated[
        Mapping[str, int],
        _comparing(
            "COLUMN=NUMBER, for the objective lexicographic: into how many steps the largest"
            " distance is divided. By default 1 for categories, the range of whole numbers up to"
            " 1,000, and 100 for others.",
            read=partial(whole_pairs_of, "--steps COLUMN=NUMBER"),
        ),
    ] = field(default_factory=dict[str, int])
    environment: Annotated[
        StorePlace | None,
        in_environment("A store or folder of stage one, for mapped columns.", panel=_COMPARE),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRequest:
    """Two files that share variables are to be linked."""

    first: _First
    second: _Second
    columns: ComparedColumns = field(default_factory=ComparedColumns)
    options: LinkOptions = field(default_factory=LinkOptions)
    top: Annotated[int, Option("Show so many of the surest links.", least=0)] = 10
    reading: Reading = field(default_factory=Reading)
    output: WrittenTable = None
    plot: WrittenPlot = None
    report: _Report = None
    report_values: Annotated[
        bool, Option("Show values of the two files beside the examples of the report.")
    ] = False
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRequest:
    """Masked versions of a file are to be linked with it."""

    original: Annotated[Path, Option("The original file.", is_argument=True)]
    masked: Annotated[tuple[Path, ...], Option("Masked versions of it.", is_argument=True)]
    columns: ComparedColumns = field(default_factory=ComparedColumns)
    options: MaskingOptions = field(default_factory=MaskingOptions)
    reading: Reading = field(default_factory=Reading)
    output: WrittenTable = None
    plot: WrittenPlot = None
    report: _Report = None
    replace: Replace = False
    raw: Raw = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureRequest:
    """Two files without common variables are to be linked by the structure they share."""

    first: _First
    second: _Second
    columns: Annotated[
        Sequence[str],
        Option("Columns of the first file; all but the identifier by default.", read=names_of),
    ] = ()
    others: Annotated[Sequence[str], Option("Columns of the second file.", read=names_of)] = ()
    identifier: _Identifier = ""
    environment: Annotated[
        Path | None,
        Option(
            "A store or folder of stage one: columns with the name of a variable there are compared"
            " by its partition graph.",
            flags="--environment -e",
        ),
    ] = None
    order: _Order = field(default_factory=dict[str, Sequence[str]])
    options: StructureOptions = field(default_factory=StructureOptions)
    reading: Reading = field(default_factory=Reading)
    output: WrittenTable = None
    plot: WrittenPlot = None
    report: _Report = None
    replace: Replace = False
    raw: Raw = False
