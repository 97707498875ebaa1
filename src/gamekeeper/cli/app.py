"""The `gamekeeper` command: its sub-commands, and how errors and Ctrl-C leave it.

Ctrl-C: while code is loaded it ends the process at once, at work it is granted at the next step.

An exception is no way out of an import: compiled modules that import others turn it into errors of
their own, or swallow it. While code is loaded nothing has been written that could be half done.

At work Python raises KeyboardInterrupt between any two steps, and then compiled code that is about to
hand back an array can crash. Where work tells progress it is safe to stop, and work that keeps what
it has found can do so.

Groups of commands are imported when they are used: `--version`, `--help` and the tab key are quick.
Exit codes: 0 fine, 1 our fault, 2 your input, 3 a limit was exceeded, 4 a policy that was named is not
met or not proven, 130 cancelled.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gamekeeper.attack.unexamined import left_out_words, not_examined
from gamekeeper.errors import Cancelled, GamekeeperError, InputError, StoreError, fault_place
from gamekeeper.files import one_run

if TYPE_CHECKING:
    from gamekeeper.results import Progress

_CANCELLED = 130


@contextmanager
def on_interrupt(handler: Callable[[int, FrameType | None], None]) -> Generator[None]:
    """Let Ctrl-C call a function meanwhile; what it did before is what it does afterwards."""
    # Signals are for the main thread alone; elsewhere there is nobody at the keyboard.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None stands for a handler that is not Python's, and cannot be put back.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def loading() -> AbstractContextManager[None]:
    """Let Ctrl-C end the process at once: only around imports, for nothing that is open is closed.

    Examples
    --------
    >>> with loading():
    ...     import decimal
    """
    return on_interrupt(lambda *_: os._exit(_CANCELLED))


@contextmanager
def stopped_by_hand(
    progress: Progress, what: str, asked: Callable[[], None]
) -> Generator[Progress]:
    """Let Ctrl-C call `asked` and raise `Cancelled` where progress is told next.

    Before anything was told, or a second time, it raises KeyboardInterrupt at once. If the work (`what`,
    in words) ends before it tells again, the wish came too late.
    """
    is_told, is_asked = False, False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal is_asked
        if is_asked or not is_told:
            raise KeyboardInterrupt
        is_asked = True
        asked()

    def tell(done: int, total: int | None) -> None:
        nonlocal is_told
        is_told = True
        if is_asked:
            raise Cancelled(f"{what}.")
        progress(done, total)

    with on_interrupt(ask):
        yield tell


_CANCELLED_OF_APP = "gamekeeper: cancelled. What was not said to be written was not written."

PARTS = {
    "map": (
        "environment.mapping",
        "Map key variables: what could the target be matched on, and at which detail?",
    ),
    "graph": (
        "environment.mapping",
        "Show or draw the harmonization graph or the partition graph of a variable.",
    ),
    "check": (
        "environment.mapping",
        "Check an environment: every file, every partition graph, every categorization.",
    ),
    "assess": (
        "assess",
        "Assess a file that may be released: a verdict, what drives the risk, what to do about it.",
    ),
    "serve": (
        "server",
        "Open the workbench in the browser, on this machine, until it is stopped with Ctrl-C.",
    ),
    "account": (
        "server:account_app",
        "Accounts of the workbench in the browser: who may sign in, in which role.",
    ),
    "demo": ("server", "Run the main job on made-up data and write HTML reports."),
    "shell": (
        "environment.mapping",
        "Open a Python prompt with the environment, in IPython where that is installed.",
    ),
    "env": (
        "environment.env",
        "A data environment as a whole: make a store, bring it in and out, look back, undo.",
    ),
    "form": (
        "environment.forms",
        "Forms: what is asked out there, by whom, and in which categories.",
    ),
    "variable": (
        "environment.edits",
        "Variables: what can be asked, and how its categories relate.",
    ),
    "group": (
        "environment.forms:groups_app",
        "Groups of forms: listed by hand, found by a query, or made from other groups.",
    ),
    "scenario": (
        "environment.forms:scenarios_app",
        "Scenarios: who might match the target, on which key variables, at which detail.",
    ),
    "look": (
        "risk:look_app",
        "Look at a file first: columns, levels, missing cells, likely identifiers, possible keys.",
    ),
    "risk": ("risk", "Stage two: attack a file of microdata that may be released."),
    "tables": ("tables", "Stage two: attack tables of counts that may be released."),
    "link": ("link", "Stage two: link records, the attack that works on every masking method."),
    "protect": ("protect", "Stage three: protect a file, attack it again, and prove it."),
}
"""Which module here has the `app` of each part (or another, after a colon), and what the part is
for (its first sentence)."""


@cache
def load(name: str) -> Any:
    """Return a part of the command line, imported."""
    with loading():
        module, _, app = PARTS[name][0].partition(":")
        part = getattr(import_module(f"gamekeeper.cli.{module}"), app or "app")
    part.info.cls = _Part
    made = typer.main.get_group(part)
    found: Any = made if made.name == name else made.commands[name]
    for own, command in getattr(found, "commands", {"": found}).items():
        command.epilog = left_out_words(not_examined(f"{name} {own}".strip()))
    return found


class _Part(TyperGroup):
    """A group of commands that is quick to list.

    Typer imports pydantic to make a value of a flag that was not typed, unless it has a default.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        flags = super().get_params(ctx)
        for flag in flags:
            flag.default = flag.default or False
        return flags


class _Parts(_Part):
    """All parts by name; one is imported when a command of it is to be run or completed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, words) in PARTS.items():
            self.add_command(TyperCommand(name, help=words), name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        return name, None if found is None or name is None else load(name), rest


app = typer.Typer(
    name="gamekeeper",
    cls=_Parts,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Statistical disclosure control from the intruder's side.\n\n"
    "Stage one maps key variables: which variables of a planned release could an intruder match"
    " on, at which level of detail, given the forms and data sets out there?\n\n"
    "Stage two attacks a file or tables: which records would an intruder re-identify, with what"
    " probability, at what cost? Which counts and people do released tables give away?\n\n"
    "Stage three protects a file: candidates for a target, each attacked again, and a recipe to repeat"
    " it.\n\n"
    "Start with [bold]gamekeeper demo[/bold].",
)


def _version(asked: bool) -> None:
    if asked:
        from gamekeeper.results import package_version

        typer.echo(f"gamekeeper {package_version()}")
        raise typer.Exit


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; print one clear error instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or file that cannot show a letter gets a question mark, not a crash.
            stream.reconfigure(errors="replace")
    try:
        with one_run():
            app()
    except SystemExit as end:
        if end.code == Cancelled.exit_code:
            _warn(_CANCELLED_OF_APP)
        # What prints for us makes a code of its own of a reader that has gone.
        gone = _began_with(end, BrokenPipeError)
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            gone = True
        if gone:
            _write_no_more()
        if gone and end.code == 1:
            sys.exit(0)
        raise
    except GamekeeperError as error:
        _warn(f"gamekeeper: {error.message} [{error.reason.value}]")
        for problem in error.problems:
            _warn(f"  - {problem}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _write_no_more()
        sys.exit(0)
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            # No path that we make up: it was given.
            _warn(
                "gamekeeper: A file or folder was named. The system cannot look up its path:"
                f" {error.strerror}. Give another path. [not-readable]"
            )
            sys.exit(InputError.exit_code)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            _tell_our_fault(error)
            sys.exit(1)
        _warn("gamekeeper: The output could not be written: the system refused. [not-writable]")
        sys.exit(StoreError.exit_code)
    except Exception as error:  # noqa: BLE001 - the last door: nothing of the data may pass it
        # Compiled modules that import others turn Ctrl-C into errors.
        if _began_with(error, KeyboardInterrupt):
            _warn(_CANCELLED_OF_APP)
            sys.exit(Cancelled.exit_code)
        _tell_our_fault(error)
        sys.exit(1)


def _began_with(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Tell whether an error was raised while one of a kind was handled."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


def _write_no_more() -> None:
    """The reader of our output has gone (as in `| head`): nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(text: str) -> None:
    # Here and not above: what prints and counts takes longer to import than --version takes.
    from gamekeeper.cli.commands import warn

    warn(text)


def _tell_our_fault(error: Exception) -> None:
    """Say where we failed, never with what: an exception's text can hold values of a data file."""
    from gamekeeper.results import package_version

    _warn(
        f"gamekeeper: this is a fault of ours ({type(error).__name__} in {fault_place(error)},"
        f" version {package_version()}). Please report this line; it holds none of your data."
    )
