"""Options of several requests: files written or read, who counts; server, accounts, demo."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from gamekeeper.options import Option, defaulting, option
from gamekeeper.results import Audience
from gamekeeper.store.place import StorePlace, store_place
from gamekeeper.workbench.requests.environment import InStore

table_output = partial(Option, flags="--output -o", writes="table", label="Written")
table_option = defaulting(table_output)
"""An option that names the file of a table, and the same as a field."""

in_environment = partial(Option, flags="--environment -e", read=store_place)
environment_option = defaulting(in_environment)
"""An option that names a store or folder of stage one, and the same as a field."""

Plot = Annotated[
    Path | None, Option("Write a plot to this .svg or .png.", writes="picture", label="Plot")
]
WrittenTable = Annotated[Path | None, table_output("Write to this .csv, .parquet or .xlsx.")]
WrittenPlot = Annotated[
    Path | None, Option("Write a plot to this .svg or .png.", writes="picture", label="Written")
]
WrittenPage = Annotated[
    Path | None, Option("Write an HTML report to this file.", writes="page", label="Written")
]
CountedRecords = Annotated[
    Path | None,
    Option(
        "Write the risk of every record to this .csv, .parquet or .xlsx; with a cluster, .parquet is a"
        " folder that it writes.",
        writes="counted",
        label="Risk of every record",
    ),
]
Report = Annotated[
    Path | None, Option("Write an HTML report to this file.", writes="page", label="Report")
]
ReportFor = Annotated[
    Audience,
    Option(
        "internal: everything, with single records. external: what was done and how, without any"
        " value of risk, parameter, record or category, for people outside."
    ),
]
ReportRecords = Annotated[
    bool,
    Option(
        "Whether the report describes single records and categories.",
        flags="--report-records/--no-report-records",
    ),
]
Replace = Annotated[bool, Option("Replace files that are there already.")]
Raw = Annotated[
    bool,
    Option(
        "Write CSV for programs: texts that a spreadsheet would run as formulas get no apostrophe."
    ),
]
Population = Annotated[
    Path | None,
    Option("A file with everybody in it, of the same columns: then nothing is estimated."),
]
Memory = Annotated[
    str | None,
    Option(
        "Use so much memory at most, such as 4GB: what would take more is refused before it begins,"
        " or spills to disk. By default what is free."
    ),
]
Identifier = Annotated[
    str,
    Option(
        "Column with your own name of each record; it stands beside the number in every list of"
        " records. What is written is then as confidential as that column.",
        flags="--id",
    ),
]
NoRecords = Annotated[
    bool,
    Option(
        "Tell figures of the whole only: no single records, cells or categories, neither here, in"
        " JSON nor in a report. Tables that are asked for by a file's name are written."
    ),
]
Top = Annotated[int, Option("Show so many of the riskiest records.", least=0)]

_reading = partial(Option, panel="How the file is read")
_reading_option = defaulting(_reading)
Delimiter = Annotated[
    str | None,
    _reading(
        "Of a CSV file, if it is not detected rightly: ',', ';', 'tab' or '|'.",
        read=lambda typed: "\t" if typed in ("tab", "\\t") else typed,
    ),
]
Encoding = Annotated[str | None, _reading("Of a CSV file: utf-8, cp1252, latin-1, utf-16.")]
Decimal = Annotated[str | None, _reading("Decimal mark of numbers.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read: what is missing, how texts are written, what memory may be used."""

    missing_values: tuple[str, ...] = _reading_option(
        (), "A value to read as missing, besides the empty cell.", flags="--missing-value"
    )
    keep_user_missing: bool = _reading_option(
        False, "Keep the user-missing codes of SPSS, Stata and SAS as values."
    )
    header: bool = _reading_option(
        True,
        "Whether the first line of a text file or sheet has the names of the columns; without,"
        " they are called 'column 1', 'column 2' and so on.",
        flags="--header/--no-header",
    )
    sheet: str | None = _reading_option(
        None, "Of an Excel workbook, where several sheets have cells."
    )
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    memory: Memory = None
    no_records: NoRecords = False


ENGINE_VARIABLE = "GAMEKEEPER_ENGINE"
SCRATCH_VARIABLE = "GAMEKEEPER_SCRATCH"
THIS_MACHINE = "duckdb"

_counting = defaulting(partial(Option, panel="Where it is counted"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRequest:
    """Which engine keeps the records of a file and counts them."""

    # From Python also an engine that is open.
    engine: str | Any = _counting(
        "",
        "duckdb (this machine), spark://HOST:PORT, sc://HOST:PORT (Spark Connect) or"
        f" local-cluster. By default ${ENGINE_VARIABLE}, or else duckdb. A cluster must see the"
        " file under the same path; Parquet is read in place.",
        read=str,
        default_text="",
    )
    scratch: str = _counting(
        "",
        "With a cluster: a folder that all its machines and this one see, for what is kept while"
        f" it counts. By default ${SCRATCH_VARIABLE}.",
    )

    @property
    def named(self) -> str:
        """The engine as it was typed, here or in the environment.

        Examples
        --------
        >>> EngineRequest(engine=" spark://host:7077 ").named
        'spark://host:7077'
        """
        given = self.engine if isinstance(self.engine, str) else self.engine.name
        typed = given.strip() or os.environ.get(ENGINE_VARIABLE, "").strip()
        return THIS_MACHINE if typed.casefold() in ("", THIS_MACHINE) else typed

    @property
    def is_elsewhere(self) -> bool:
        """Whether that is no engine of this machine; none is started to tell."""
        if not isinstance(self.engine, str):
            return not self.engine.is_local
        return self.named != THIS_MACHINE


ON_THIS_MACHINE = EngineRequest(engine=THIS_MACHINE)
"""Whatever the environment names: for work that one machine does."""

State = Annotated[
    Path | None,
    Option(
        "Private folder of the server: accounts, sessions, results. By default beside the store,"
        " with .server after its name; for a store on a server it must be named."
    ),
]
"""Where a server keeps its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRequest:
    """A server for a store."""

    store: StorePlace | None = option(
        None,
        "File of a store, or postgresql://... on a server.",
        is_argument=True,
        read=store_place,
    )
    demo: bool = option(
        False, "Serve made-up forms and a made-up file from ./demo-workbench, which is made once."
    )
    folders: tuple[Path, ...] = option(
        (), "A folder with files of people that pages may read, in place.", flags="--allow"
    )
    port: int = option(8720, "Where it listens; 0 for any that is free.", least=0, most=65_535)
    host: str = option(
        "127.0.0.1", "The address it listens on. Others than this machine's need accounts."
    )
    origin: str = option(
        "", "The address that people use, where a proxy with https stands before it."
    )
    keep_days: int = option(
        14, "Results of single records are deleted after so many days.", least=1, most=3_650
    )
    state: State = None


class AccountRole(StrEnum):
    """What an account is for."""

    READER = "reader"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"


_Role = Annotated[
    AccountRole,
    Option(
        "reader looks; editor edits, and reads and assesses files of people; administrator sees to"
        " accounts too."
    ),
]
_Name = Annotated[str, Option("The account.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsRequest:
    """The accounts of the server of a store."""

    place: InStore
    state: State = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRequest:
    """One account."""

    of: AccountsRequest
    name: _Name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccountRequest:
    """An account to be added."""

    of: AccountsRequest
    name: _Name
    role: _Role = AccountRole.EDITOR


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRequest:
    """Another role for an account."""

    of: AccountsRequest
    name: _Name
    role: Annotated[AccountRole, Option("The new role.", is_argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRequest:
    """Where the demo writes to, and which people it makes up."""

    output: Path = option(
        Path("demo-output"),
        "Folder to write to: a new one, or that of an earlier demo, which is replaced.",
        flags="--output -o",
        writes="folder",
    )
    seed: int = option(2026, "Another seed makes up other people.")
