"""Commands made from requests: every option comes from the one place where it is written.

A command is a function of a request and, besides, of options that are about printing only::

    @command(app, "dis")
    def dis_command(asked: DisRequest, how: AsFormat = Format.TABLE) -> None:
        \"\"\"Estimate what a unique match is worth.\"\"\"
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand

from gamekeeper.budget import within_memory
from gamekeeper.cli.show import Format, csv_for, say, warn, withholding_records
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Field, build, options_of, written
from gamekeeper.report.audience import Audience
from gamekeeper.wording import quoted
from gamekeeper.workbench.requests.counting import ENGINE_VARIABLE, EngineRequest

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
_REPEATED = "May be repeated."


def command_group(name: str, words: str) -> typer.Typer:
    """Return an empty group of commands, which tells what it is for where none of them is named."""
    return typer.Typer(name=name, no_args_is_help=True, rich_markup_mode="rich", help=words)


def command(
    app: typer.Typer, name: str, *, offers: Mapping[str, Callable[..., Any]] | None = None
) -> Callable[[_Work], _Work]:
    """Make a command of a function whose first parameter is a request.

    `offers` has, by the name of an option, what the tab key offers for it.
    """

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
        silent["report_for"] = Audience.EXTERNAL
    return {**values, **{name: value for name, value in silent.items() if name in values}}


def add_later(app: typer.Typer, name: str, words: str | None, make: Callable[[], _Work]) -> None:
    """Add a command whose options are made when somebody asks for them.

    To list commands is quick; to make their options takes typer several times as long.
    """

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

    `own` are parameters that typer knows already; they are passed on as they are.
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
        told["help"] = f"{option.help} {_REPEATED}"
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
