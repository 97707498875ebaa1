"""Commands that open a file of microdata: all of them take the same options for it.

A command is a function of a `MicrodataRequest` and its own options. `microdata_command` adds the
file, how it is read, and where its key variables come from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import build
from gamekeeper.prompt_syntax import pairs_of
from gamekeeper.workbench.requests.microdata import MicrodataRequest
from gamekeeper.workbench.requests.reading import Reading

__all__ = ["microdata_command"]

_KEYS = "Key variables"
_FILE = "How the file is read"

_File = Annotated[
    Path,
    typer.Argument(
        help="File of microdata: CSV, Parquet, SPSS (.sav, .por), Stata (.dta) or SAS"
        " (.sas7bdat, .xpt). It is read in place.",
        show_default=False,
    ),
]
_Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--keys",
        "-k",
        help="Columns to match on: Age,Sex,Region. May be repeated.",
        rich_help_panel=_KEYS,
        show_default=False,
    ),
]
_Scenario = Annotated[
    str,
    typer.Option(
        help="A scenario of stage one: its key variables, at its level of detail.",
        rich_help_panel=_KEYS,
        show_default=False,
    ),
]
_Environment = Annotated[
    Path | None,
    typer.Option(
        "--environment",
        "-e",
        help="The store or folder that has the scenario.",
        rich_help_panel=_KEYS,
        show_default=False,
    ),
]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="VARIABLE=COLUMN where a key variable of the scenario has another name in the file."
        " May be repeated.",
        rich_help_panel=_KEYS,
        show_default=False,
    ),
]
_Values = Annotated[
    Path | None,
    typer.Option(
        help="CSV with variable, value, category: what values mean that are not known by name.",
        rich_help_panel=_KEYS,
        show_default=False,
    ),
]
_Unmapped = Annotated[
    Path | None,
    typer.Option(
        help="Where to write the values that fit no category, to be filled in for --values."
        " The file then has values of your data: keep it as safe as those.",
        rich_help_panel=_KEYS,
        show_default=False,
    ),
]
_Missing = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="What a missing cell is: category (a value of its own), ignore (never equal, never"
        " makes a record unique), wildcard (equals anything), exclude (the record is left out).",
        rich_help_panel=_KEYS,
    ),
]
_MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-value",
        help="A value to read as missing, besides the empty cell. May be repeated.",
        rich_help_panel=_FILE,
        show_default=False,
    ),
]
_KeepMissing = Annotated[
    bool,
    typer.Option(
        "--keep-user-missing",
        help="Keep the user-missing codes of SPSS, Stata and SAS as values.",
        rich_help_panel=_FILE,
    ),
]
_Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Of a CSV file, if it is not detected rightly: ',', ';', 'tab' or '|'.",
        rich_help_panel=_FILE,
        show_default=False,
    ),
]
_Encoding = Annotated[
    str | None,
    typer.Option(
        help="Of a CSV file: utf-8, cp1252, latin-1, utf-16.",
        rich_help_panel=_FILE,
        show_default=False,
    ),
]
_Decimal = Annotated[
    str | None,
    typer.Option(help="Decimal mark of numbers.", rich_help_panel=_FILE, show_default=False),
]
_MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        help="What counting may use before it spills to disk, such as 2GB.",
        rich_help_panel=_FILE,
        show_default=False,
    ),
]

_OPTIONS: tuple[tuple[str, Any, Any], ...] = (
    ("keys", _Keys, None),
    ("scenario", _Scenario, ""),
    ("environment", _Environment, None),
    ("columns", _Columns, None),
    ("values", _Values, None),
    ("unmapped", _Unmapped, None),
    ("missing", _Missing, Missing.CATEGORY),
    ("missing_values", _MissingValues, None),
    ("keep_user_missing", _KeepMissing, False),
    ("delimiter", _Delimiter, None),
    ("encoding", _Encoding, None),
    ("decimal", _Decimal, None),
    ("memory_limit", _MemoryLimit, None),
)
_TAB = {"tab": "\t", "\\t": "\t"}

_Attack = Callable[..., None]


def microdata_command(app: typer.Typer, name: str) -> Callable[[_Attack], _Attack]:
    """Make a command of a function that takes a `MicrodataRequest` and options of its own."""
    options = _OPTIONS

    def register(attack: _Attack) -> _Attack:
        own = list(inspect.signature(attack, eval_str=True).parameters.values())[1:]
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter("file", keyword, annotation=_File),
            *(
                inspect.Parameter(name, keyword, default=default, annotation=kind)
                for name, kind, default in options
            ),
            *(item.replace(kind=keyword) for item in own),
        ]

        @wraps(attack)
        def command(**given: Any) -> None:
            chosen = {name: given.pop(name) for name, _, _ in options}
            attack(_request(given.pop("file"), **chosen), **given)

        command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        command.__annotations__ = {item.name: item.annotation for item in parameters}
        app.command(name)(command)
        return attack

    return register


def _request(file: Path, **given: Any) -> MicrodataRequest:
    given["keys"] = tuple(given["keys"] or ())
    given["missing_values"] = tuple(given["missing_values"] or ())
    given["columns"] = pairs_of("--column VARIABLE=COLUMN", given["columns"] or ())
    given["delimiter"] = _TAB.get(given["delimiter"] or "", given["delimiter"])
    reading = build(Reading, given)
    others = {name: value for name, value in given.items() if not hasattr(reading, name)}
    return MicrodataRequest(file=file, reading=reading, **others)
