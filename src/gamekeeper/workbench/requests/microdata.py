"""What people ask of a file of microdata: which file, how it is read, what its keys are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import pairs_of
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.workbench.requests.reading import Reading

_key = partial(Option, panel="Key variables")
_sample = partial(Option, panel="The sample")


Columns = Annotated[
    Mapping[str, str],
    _key(
        "VARIABLE=COLUMN where a key variable of the scenario has another name in the file.",
        flags="--column",
        read=partial(pairs_of, "--column VARIABLE=COLUMN"),
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
    keys: Annotated[
        tuple[str, ...], _key("Columns to match on: Age,Sex,Region.", flags="--keys -k")
    ] = ()
    # From Python both may be given as they are, a Scenario and its Environment.
    scenario: Annotated[
        str | Any,
        _key("A scenario of stage one: its key variables, at its level of detail.", read=str),
    ] = ""
    environment: Annotated[
        StorePlace | Any | None,
        _key(
            "The store or folder that has the scenario.", flags="--environment -e", read=store_place
        ),
    ] = None
    columns: Columns = field(default_factory=dict[str, str])
    values: Values = None
    unmapped: Unmapped = None
    numbers: Numbers = ()
    missing: Annotated[
        Missing,
        _key(
            "What a missing cell is: category (a value of its own), ignore (never equal, never"
            " makes a record unique), wildcard (equals anything), exclude (the record is left"
            " out)."
        ),
    ] = Missing.CATEGORY
    recodes: Annotated[
        tuple[str, ...],
        _key(
            "VARIABLE=WAY to make a key variable coarser, and see before and after side by side:"
            " 'Age=0-15, 16-64, 65+', 'Age=width 5', 'Age=bottom 15, top 80', 'Work=first 2',"
            " 'Age=neighbours 3', 'Work=level 1', 'Work=code C9.002', 'Work=as Census',"
            " 'Region=North: A | B', 'Sex=together'. Nothing is written.",
            flags="--recode",
        ),
    ] = ()
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleDesign:
    """How a file was drawn from the population."""

    weight: Annotated[str, _sample("Column of sampling weights.")] = ""
    strata: Annotated[str, _sample("Column of strata.")] = ""
    # From Python also a number, or a mapping of strata to their fractions.
    fraction: Annotated[
        str | Any,
        _sample(
            "Sampling fraction: 0.02, 2% or 1/50; by stratum: 'North=2%, South=5%'. By default"
            " from the weights.",
            flags="--fraction -f",
            read=str,
        ),
    ] = ""
