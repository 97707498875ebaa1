"""A word planted where no message may repeat it, and all that an error says."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator

import pytest
import typer.main

from gamekeeper.cli.app import app, main
from gamekeeper.errors import GamekeeperError

CANARY = "CANARY-7341"


def everything_said(error: BaseException) -> Iterator[str]:
    yield from (str(error), repr(error), repr(error.args))
    yield from traceback.format_exception(error)
    if isinstance(error, GamekeeperError):
        yield from (repr(error.problems), error.message, *map(str, error.problems))
    for behind in (error.__cause__, error.__context__):
        if behind is not None:
            yield from everything_said(behind)


def require_silence(signs: Iterable[str], texts: Iterable[str]) -> None:
    """Require that no sign of what was planted is in any text."""
    heard = [text for text in texts for sign in signs if sign in text]
    assert not heard, heard[0]


def command(*arguments: object) -> None:
    """Run a command as a program of Python would, which gets to see its error."""
    typer.main.get_command(app)([*map(str, arguments)], standalone_mode=False)


def said_of_a_fault(
    patch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    part: str,
    fault: Exception,
    *arguments: object,
) -> str:
    """Let a part of a command fail as none should, and return what is printed of it."""

    def fail(*arguments: object, **options: object) -> None:
        raise fault

    patch.setattr(part, fail)
    patch.setattr(sys, "argv", ["gamekeeper", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    printed = capsys.readouterr().err
    assert f"this is a fault of ours ({type(fault).__name__} in " in printed
    return printed
