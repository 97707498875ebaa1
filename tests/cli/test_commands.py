"""Commands made from requests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from gamekeeper.cli.commands import Format, command, csv_for, say_written, show
from gamekeeper.errors import InputError
from gamekeeper.options import Option
from gamekeeper.results import EVERYTHING, make_listing

RUN = CliRunner()
AsFormat = Annotated[Format, typer.Option("--format", help="How it is printed.")]


class Method(StrEnum):
    PLAIN = "plain"
    ODD = "odd"


def pairs(texts: list[str]) -> dict[str, str]:
    return dict(text.split("=") for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    rounds: Annotated[int, Option("At most so many rounds.", least=1)] = 10
    method: Annotated[Method, Option("How it is done.")] = Method.PLAIN
    keys: Annotated[tuple[str, ...], Option("A key.", flags="--keys -k")] = ()
    listing: Annotated[bool, Option("Whether to list.", flags="--listing/--no-listing")] = True
    exact: Annotated[bool, Option("Exactly.")] = False
    columns: Annotated[
        tuple[str, ...], Option("VARIABLE=COLUMN.", flags="--column", read=pairs)
    ] = ()
    limit: Annotated[int | None, Option("0 for none.", least=0, read=lambda n: n or None)] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    files: Annotated[tuple[Path, ...], Option("Files.", is_argument=True)]
    search: Search
    plot: Annotated[Path | None, Option("A plot.", writes="picture", label="Plot")] = None


def run(*arguments: str):
    got: list[object] = []
    app = typer.Typer()
    app.callback()(lambda: None)

    @command(app, "find")
    def find(asked: Request, how: AsFormat = Format.TABLE) -> None:
        """Find it."""
        got.extend((asked, how))
        say_written(asked)

    return RUN.invoke(app, ["find", *arguments]), got


def test_a_request_is_typed():
    ended, (asked, how) = run(
        "a.csv", "b.csv", "--rounds", "3", "--method", "odd", "-k", "Age", "-k", "Sex",
        "--no-listing", "--exact", "--column", "a=b", "--limit", "0", "--plot", "p.svg",
        "--format", "json",
    )  # fmt: skip
    assert ended.exit_code == 0
    assert asked == Request(
        files=(Path("a.csv"), Path("b.csv")),
        search=Search(
            rounds=3, method=Method.ODD, keys=("Age", "Sex"), listing=False, exact=True,
            columns={"a": "b"}, limit=None,
        ),
        plot=Path("p.svg"),
    )  # fmt: skip
    assert how is Format.JSON
    assert "Plot: p.svg" in ended.output


def test_what_is_not_typed_has_its_default():
    ended, (asked, how) = run("a.csv")
    assert ended.exit_code == 0
    assert asked == Request(files=(Path("a.csv"),), search=Search())
    assert how is Format.TABLE


def test_what_is_out_of_range_or_missing_is_refused():
    assert run("a.csv", "--rounds", "0")[0].exit_code == 2
    assert run("a.csv", "--method", "strange")[0].exit_code == 2
    assert run()[0].exit_code == 2


def test_help_tells_every_option_its_range_and_default():
    ended, _ = run("--help")
    for words in ("At most so many rounds.", "x>=1", "default: 10", "--column", "May be repeated.",
                  "plain", "--no-listing", "Find it."):  # fmt: skip
        assert words in ended.output


def test_csv_is_safe_for_spreadsheets_unless_it_is_for_programs(capsys):
    listing = make_listing("forms", ("form", "n"), [("=cmd|' /C calc'!A0", -3)], EVERYTHING)
    show(listing, Format.CSV)
    assert capsys.readouterr().out.splitlines()[1] == "'=cmd|' /C calc'!A0,-3"
    with csv_for(programs=True):
        show(listing, Format.CSV)
    assert capsys.readouterr().out.splitlines()[1] == "=cmd|' /C calc'!A0,-3"


def test_an_option_that_takes_one_value_is_given_once():
    told, got = run("a.csv", "--rounds", "3", "--method=odd", "--rounds=4", "--method", "plain")
    assert isinstance(told.exception, InputError)
    assert str(told.exception).startswith("'--rounds', '--method' were given more than once.")
    assert not got
    # What may be repeated, and a flag, which says the same twice.
    told, got = run("a.csv", "-k", "x", "--keys", "y", "--exact", "--exact", "--listing")
    assert told.exit_code == 0, told.output
    assert got[0].search.keys == ("x", "y")
