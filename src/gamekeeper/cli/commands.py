"""How commands are made of requests, and how they print: tables, JSON or CSV, progress, results.

A command is a function of a request, in which every option is written once, and of options that are
about printing only::

    @command(app, "dis")
    def dis_command(asked: DisRequest, how: AsFormat = Format.TABLE) -> None:
        \"\"\"Estimate what a unique match is worth.\"\"\"
"""

from __future__ import annotations

import csv
import inspect
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer.core import TyperCommand

from gamekeeper import results
from gamekeeper.arrow import pa
from gamekeeper.attack.unexamined import WHOLE_HOUSEHOLDS
from gamekeeper.budget import within_memory
from gamekeeper.cli.app import stopped_by_hand
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Field, build, options_of, written
from gamekeeper.prompt_syntax import Missing
from gamekeeper.wording import cell_text, percent_text, quoted, shown_cell
from gamekeeper.workbench.requests.shared import ENGINE_VARIABLE, EngineRequest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from gamekeeper.attack.uniques.suda import UniquesRisk
    from gamekeeper.workbench.answers import Answer


@cache
def output() -> Console:
    """Return what prints to people; rich is imported when there is something to print."""
    from rich.console import Console

    # What is piped into a file or a pager need not fit 80 columns.
    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 160)


@cache
def _errors() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


_withheld: ContextVar[bool] = ContextVar("withheld", default=False)


@contextmanager
def withholding_records(quiet: bool) -> Generator[None]:
    """Print no single records, cells or categories meanwhile."""
    token = _withheld.set(quiet)
    try:
        yield
    finally:
        _withheld.reset(token)


def records_are_withheld() -> bool:
    """Tell whether nothing is to be said of single records."""
    return _withheld.get()


class Format(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


_raw_csv: ContextVar[bool] = ContextVar("raw_csv", default=False)


@contextmanager
def csv_for(programs: bool) -> Generator[None]:
    """Print CSV for programs: texts that a spreadsheet would run as formulas stay as they are."""
    before = _raw_csv.set(programs)
    try:
        yield
    finally:
        _raw_csv.reset(before)


def show(
    result: results.Result,
    how: Format,
    *,
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
    title: str = "",
    sentences: Sequence[str] = (),
    notices: Sequence[str] = (),
    parts: Mapping[str, Any] | None = None,
) -> None:
    """Print a result; `table` has the columns for people.

    Programs get all that people read: in JSON `parts` has what is printed besides the result, each a
    result, an Arrow table or plain values; those that are None are left out.
    """
    if how is Format.TABLE:
        header, rows = table or _for_people(result)
        show_table(header, rows, title=title)
        return
    is_silent = records_are_withheld()
    if how is Format.JSON:
        _write_json(
            results.document_of(
                result,
                sentences=sentences,
                notices=notices,
                parts=parts,
                with_records=not is_silent,
            )
        )
    else:
        names, lines = (
            ((), ()) if is_silent and result.tells_of_records else results.lines_of(result)
        )
        records = (results.plain_row(dict(zip(names, line, strict=True))) for line in lines)
        shown = (lambda cell: cell) if _raw_csv.get() else shown_cell
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([shown(name) for name in names])
        writer.writerows([shown(cell) for cell in record.values()] for record in records)


def _write_json(document: Mapping[str, Any]) -> None:
    """Print a document as `json.dumps` would with an indent of 1; what is iterated, as it comes."""
    for number, (name, value) in enumerate(document.items()):
        sys.stdout.write(f"{',' if number else '{'}\n {json.dumps(name)}: ")
        if not isinstance(value, Iterator):
            sys.stdout.write(_json_text(value, 1))
            continue
        n_written = 0
        for n_written, item in enumerate(value, 1):
            sys.stdout.write(f"{',' if n_written > 1 else '['}\n  {_json_text(item, 2)}")
        sys.stdout.write("\n ]" if n_written else "[]")
    sys.stdout.write("\n}\n")


def _json_text(value: Any, depth: int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    # Line ends within texts are escaped, so that these are the ones of the layout.
    return text.replace("\n", "\n" + " " * depth)


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """Print a table that fits the terminal; numbers to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold", box=None)
    taken = 1
    for number, name in enumerate(header):
        cells = [row[number] for row in rows]
        right = bool(cells) and all(_looks_numeric(cell) for cell in cells)
        table.add_column(name, justify="right" if right else "left", overflow="fold")
        taken += max(map(len, (name, *cells))) + 2 if number < len(header) - 1 else 2
    # The last column has the long texts: one line each, cut where the terminal ends.
    room = max(output().width - taken, 24)
    for row in rows:
        # As texts, in which no markup is looked for.
        last = row[-1] if len(row[-1]) <= room else row[-1][: room - 1] + "…"
        table.add_row(*map(Text, (*row[:-1], last)))
    output().print(table)


def say(text: str = "") -> None:
    """Print one line of text to people."""
    output().print(text, markup=False, soft_wrap=True)


def say_all(lines: Iterable[str]) -> None:
    """Print lines of text to people."""
    for line in lines:
        say(line)


def say_part(title: str) -> None:
    """Print the title of what follows, between two empty lines."""
    say_all(("", title, ""))


def say_explained(explained: Mapping[str, Iterable[str]]) -> None:
    """Print what was asked about single records, by their numbers."""
    for record, lines in explained.items():
        say_all(("", f"Record {record}:", *(f"  {line}" for line in lines)))


def warn(text: str) -> None:
    """Print one line to standard error, so that it never mixes with a result that is piped."""
    _errors().print(text, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(what: str) -> Generator[results.Progress]:
    """Show a bar once the work has taken a while; Ctrl-C ends the work where it next tells how far it is."""
    bar: Progress | None = None
    started = time.monotonic()
    errors = _errors()

    def tell(done: int, total: int | None) -> None:
        nonlocal bar
        # A bar for work that is done at once would only flicker.
        if bar is None and errors.is_terminal and time.monotonic() - started > 0.7:
            bar = _started_bar(what)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done, total=total)

    def asked() -> None:
        # Plainly: Ctrl-C may come while that is imported which prints.
        sys.stderr.write("Stopping at the next step. Ctrl-C again stops at once.\n")

    try:
        with stopped_by_hand(tell, what, asked) as stoppable:
            yield stoppable
    finally:
        if bar is not None:
            bar.stop()


def _started_bar(what: str) -> Progress:
    # Imported here: most work is done before a bar would be shown.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=_errors(), transient=True,
    )  # fmt: skip
    bar.add_task(what, total=None)
    bar.start()
    return bar


def _for_people(result: results.Result) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    names, lines = results.lines_of(result)
    # The columns of a list may be keys of the users, which are to be written as they are.
    is_list = isinstance(result, results.Listing)
    header = [name if is_list else name.replace("_", " ") for name in names]
    return header, [[_text(cell) for cell in line] for line in lines]


def _text(cell: Any) -> str:
    plain = results.plain_value(cell)
    return "" if plain is None else "∞" if plain == "unbounded" else str(plain)


def _looks_numeric(cell: str) -> bool:
    plain = cell.removesuffix("%").replace(",", "").replace(".", "", 1).replace("e-", "", 1)
    return cell in ("", "—", "∞") or plain.isdigit()


AsFormat = Annotated[
    Format, typer.Option("--format", help="Print a table for people, JSON or CSV.")
]
_RAW = inspect.Parameter(
    "raw",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Print CSV for programs: texts that a spreadsheet would run as formulas get no"
            " apostrophe.",
        ),
    ],
)
_Work = Callable[..., None]


def command_group(name: str, words: str) -> typer.Typer:
    """Return an empty group of commands, which tells what it is for where none of them is named."""
    return typer.Typer(name=name, no_args_is_help=True, rich_markup_mode="rich", help=words)


def command(
    app: typer.Typer, name: str, *, offers: Mapping[str, Callable[..., Any]] | None = None
) -> Callable[[_Work], _Work]:
    """Make a command of a function of a request; `offers` has what the tab key offers, by option."""

    def register(work: _Work) -> _Work:
        def make() -> _Work:
            first, *own = inspect.signature(work, eval_str=True).parameters.values()
            options = options_of(first.annotation)
            if any(item.name == "how" for item in own) and not any(
                item.name == "raw" for item in options
            ):
                own.append(_RAW)

            def run(values: Mapping[str, Any], **others: Any) -> None:
                quiet = bool(values.get("no_records"))
                raw = values["raw"] if "raw" in values else others.pop("raw", False)
                if "memory" in values and "engine" not in values:
                    _say_one_machine()
                with (
                    within_memory(values.get("memory")),
                    withholding_records(quiet),
                    csv_for(programs=raw),
                ):
                    asked = without_records(values) if quiet else values
                    work(build(first.annotation, asked), **others)

            return typed(work, run, options, own, offers)

        add_later(app, name, work.__doc__, make)
        return work

    return register


def _say_one_machine() -> None:
    """Say that the engine that the environment names is not used, where it is not."""
    if EngineRequest().is_elsewhere:
        # Not which: such a text may hold a password.
        warn(
            f"{ENGINE_VARIABLE} names an engine that this command does not use: it works on this"
            " machine alone."
        )


def without_records(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that show no single records; refuse those that ask for some."""
    asked = {
        "--records": values.get("records"),
        "--msus": values.get("msus"),
        "--explain": values.get("explain"),
        "--ask": values.get("ask"),
        "--categories": values.get("categories"),
        "--list": values.get("listed"),
        "--values": values.get("values") is True,
        "--report-values": values.get("report_values"),
    }
    told = [name for name, value in asked.items() if value]
    if told:
        raise InputError(
            Reason.BAD_OPTION,
            "Nothing was to be told of single records.",
            f"{quoted(told)} {'asks' if len(told) == 1 else 'ask'} for them.",
            "Leave out the one or the other.",
        )
    silent: dict[str, Any] = {"top": 0, "report_records": False}
    if "report_records" not in values:
        # A page for others has no single records.
        silent["report_for"] = results.Audience.EXTERNAL
    return {**values, **{name: value for name, value in silent.items() if name in values}}


def add_later(app: typer.Typer, name: str, words: str | None, make: Callable[[], _Work]) -> None:
    """Add a command whose options are made when somebody asks for them: that takes typer long."""

    class MadeLater(TyperCommand):
        _made: list[Any] | None = None

        @property
        def params(self) -> list[Any]:
            if self._made is None:
                alone = typer.Typer(add_completion=False)
                alone.command()(make())
                made = typer.main.get_command(alone)
                self._made, self.callback = made.params, made.callback
            return self._made

        @params.setter
        def params(self, given: list[Any]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
            assert not given, "a command has no options but those that are made later"

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if not ctx.resilient_parsing:
                _require_once(self.make_parser(ctx).parse_args(list(args))[2])
                return super().parse_args(ctx, args)
            # What is typed is to be completed, for which it does as it is: typer would import
            # pydantic, at the price of numpy, to make values of it.
            options: list[Any] = self.get_params(ctx)
            for option in options:
                option.process_value = lambda _, value: value
            try:
                return super().parse_args(ctx, args)
            finally:
                for option in options:
                    del option.process_value

    def told() -> None:
        raise AssertionError("replaced when the options are made")

    told.__doc__ = words
    app.command(name, cls=MadeLater)(told)


def _require_once(typed: Sequence[Any]) -> None:
    """Refuse an option that takes one value and was given several: the last would count, silently."""
    once = [
        option
        for option in typed
        if option.param_type_name == "option" and not (option.multiple or option.is_flag)
    ]
    again = [option for option, times in Counter(once).items() if times > 1]
    if not again:
        return
    names = [option.opts[0] for option in again]
    raise InputError(
        Reason.BAD_OPTION,
        f"{quoted(names)} {'was' if len(names) == 1 else 'were'} given more than once.",
        f"{'It takes' if len(names) == 1 else 'Each takes'} one value.",
        "Give it once." if len(names) == 1 else "Give each once.",
    )


def typed(
    work: _Work,
    run: _Work,
    asked: Iterable[Field],
    own: Iterable[inspect.Parameter] = (),
    offers: Mapping[str, Callable[..., Any]] | None = None,
) -> _Work:
    """Return a function for typer, in place of `work`, that runs with the values of options.

    Parameters that typer knows already (`own`) are passed on as they are.
    """
    options = tuple(asked)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *(_parameter(item, (offers or {}).get(item.name)) for item in options),
        *(item.replace(kind=keyword) for item in own),
    ]

    @wraps(work)
    def called(**given: Any) -> None:
        values = {item.name: _value(item, given.pop(item.name)) for item in options}
        run(values, **given)

    called.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    called.__annotations__ = {item.name: item.annotation for item in parameters}
    return called


def say_written(asked: Any) -> None:
    """Say which files a request had written, those of one label together."""
    files: dict[str, list[str]] = {}
    for option, path in written(asked):
        if not option.label:
            continue
        files.setdefault(option.label, []).append(str(path))
    for label, paths in files.items():
        say(f"{label}: {', '.join(paths)}")


def _parameter(item: Field, offer: Callable[..., Any] | None) -> inspect.Parameter:
    option = item.option
    many = item.element is not None
    # What is read from a text has no default that could be typed, unless that is a text or a number.
    is_read = option.read is not None and not isinstance(item.default, str | int | float)
    kind: Any = list[str if option.read else item.element] if many else item.kind
    if option.read is not None and not many:
        kind = str if item.kind not in (int, float) else kind
    if not item.is_required and (many or is_read or item.default is None):
        kind = kind | None
    told: dict[str, Any] = {"help": option.help, "autocompletion": offer}
    if option.read is not None and Path in get_args(item.kind):
        # A path or an address: typed as it is, and the tab key offers files.
        told["path_type"] = str
    if many and not option.is_argument:
        told["help"] = f"{option.help} May be repeated."
    if item.element in (int, float) or item.kind in (int, float):
        told |= {"min": option.least, "max": option.most}
    default = None if many or is_read else item.default
    default = inspect.Parameter.empty if item.is_required else default
    told["show_default"] = option.default_text or (
        option.default_text is None and default not in (inspect.Parameter.empty, None, "")
    )
    if option.panel:
        told["rich_help_panel"] = option.panel
    make = typer.Argument if option.is_argument else typer.Option
    flags = option.flags.split()
    if not flags and not option.is_argument and item.kind is bool:
        flags = [f"--{item.name.replace('_', '-')}"]
    if option.is_argument and flags:
        told["metavar"] = option.flags
    mark = make(**told) if option.is_argument else make(*flags, **told)
    return inspect.Parameter(
        item.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, mark]
    )


def _value(item: Field, typed: Any) -> Any:
    if item.option.read is not None:
        return item.default if typed is None else item.option.read(typed)
    if item.element is not None:
        return item.default if not typed and not item.is_required else tuple(typed)
    return typed


def say_first(answer: Answer[Any]) -> None:
    """Say what to know of the data first: notices, and what a recoding would do."""
    say_notices(answer.notices)
    if answer.what_if is not None:
        say_all(answer.what_if.sentences())
        say()
        show_result(
            answer.what_if,
            {
                "meaning": "before and after",
                "before": "before",
                "before_from": "from",
                "before_to": "to",
                "after": "after",
                "after_from": "from ",
                "after_to": "to ",
            },
        )
        say_part("After recoding:")


def say_notices(notices: Sequence[str]) -> None:
    """Say what to know of the data before anything is believed of them."""
    for notice in notices:
        say(f"! {notice}")


def show_for_programs(
    result: Any,
    how: Format,
    notices: Sequence[str] = (),
    *,
    sentences: Sequence[str] | None = None,
    **parts: object,
) -> None:
    """Print a result for programs; CSV has no place for notices, which go to standard error.

    `sentences` are said instead of its own, `parts` are what people read besides, by name.
    """
    told = result.sentences() if sentences is None else sentences
    show(result, how, sentences=told, notices=notices, parts=parts)
    if how is Format.CSV:
        for notice in notices:
            warn(f"! {notice}")
        # What was not examined is no reservation that may be lost with the sentences.
        if WHOLE_HOUSEHOLDS in told and WHOLE_HOUSEHOLDS not in notices:
            warn(f"! {WHOLE_HOUSEHOLDS}")


def show_answer(answer: Answer[Any], how: Format, **parts: Any) -> None:
    """Print an answer for programs, with what to know of it and what a recoding would do."""
    show_for_programs(answer.found, how, answer.notices, what_if=answer.what_if, **parts)


def say_how(result: results.Result) -> None:
    """Say how a result came about, and how missing values were read."""
    made = result.provenance
    parts = [f"{made.method} ({made.variant})" if made.variant else made.method]
    policy = made.parameters.get("missing")
    if policy and Missing(policy).words != made.variant:
        parts.append(f"missing cells by '{policy}': {Missing(policy).words}")
    if made.seed is not None:
        parts.append(f"seed {made.seed}")
    parts.append(made.engine)
    if made.fingerprint:
        parts.append(f"input {made.fingerprint}")
    say()
    say(f"How: {'; '.join(parts)}.")


def say_end(asked: Any, result: results.Result) -> None:
    """Say how a result came about, and which files were written of what was asked."""
    say_how(result)
    say_written(asked)


def show_explained(found: UniquesRisk, n_records: int, identifier: str = "") -> None:
    """Print the riskiest records with what sets them apart."""
    shown = found.riskiest(n_records)
    wanted = ["record", identifier, "risk_class", found.records.measure, "msus"]
    names = list(dict.fromkeys(filter(None, wanted)))
    cells = zip(*(shown[name].to_pylist() for name in names), strict=True)
    rows = [[*map(cell_text, row), "; ".join(found.explain(row[0], most=3))] for row in cells]
    show_table([*(name.replace("_", " ") for name in names), "why"], rows)


def show_result(
    result: results.Result,
    columns: Mapping[str, str] | None = None,
    *,
    table: pa.Table | None = None,
) -> None:
    """Print a result, or a part of it, for people; `columns` has the headings of those to show."""
    if records_are_withheld() and result.tells_of_records:
        return
    part = result.to_arrow() if table is None else table
    shown = columns or {name: name.replace("_", " ") for name in part.column_names}
    texts = [
        [(percent_text if name.endswith("share") else cell_text)(cell) for cell in cells]
        for name, cells in ((name, part[name].to_pylist()) for name in shown)
    ]
    show_table(list(shown.values()), list(zip(*texts, strict=True)))
