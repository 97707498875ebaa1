"""One case in this process: what it ends with, and whether that is a fault."""

from __future__ import annotations

import contextlib
import io
import re
import resource
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from gamekeeper.budget import within_memory
from gamekeeper.cli import commands as show
from gamekeeper.cli.app import main
from gamekeeper.errors import fault_place
from tests.fuzz.case import Case
from tests.fuzz.ingredients import CANARY

ALLOWED = (0, 2, 3, 4)
MEMORY = 1_000_000_000
SECONDS = 20.0


@dataclass(frozen=True)
class Outcome:
    """How a case ended; `fault` is "" if that was fine, else the same text for the same fault."""

    code: int
    fault: str
    told: str
    seconds: float


def run_case(case: Case) -> Outcome:
    """Run a case and judge it."""
    out, err = io.StringIO(), io.StringIO()
    before = _peak()
    started = time.process_time()
    code: object = None
    trace = ""
    real_tell = "gamekeeper.cli.app._tell_our_fault"
    faults: list[str] = []

    def tell(error: Exception) -> None:
        faults.append(f"{type(error).__name__} in {fault_place(error)}")
        err.write("".join(traceback.format_exception(error))[-3_000:])

    show.output.cache_clear()
    show._errors.cache_clear()
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        # A value that lands where an output is named must not be written where the tests are run.
        contextlib.chdir(folder),
        mock.patch(real_tell, tell),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        within_memory(MEMORY),
    ):
        arguments = case.write(Path(folder))
        with mock.patch.object(sys, "argv", ["gamekeeper", *arguments]):
            try:
                main()
            except SystemExit as end:
                code = end.code
            except BaseException as error:  # noqa: BLE001 - whatever leaves it is a fault
                tell(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))
                code = 1
    show.output.cache_clear()
    show._errors.cache_clear()
    seconds = time.process_time() - started
    number = code if isinstance(code, int) else 0 if code is None else 1
    told = err.getvalue()
    fault = faults[0] if faults else ""
    if not fault and number not in ALLOWED:
        fault = f"exit code {number}"
    # A rule that is not met is told with the result.
    if (
        not fault
        and number not in (0, 4)
        and not re.search(r"^(gamekeeper: |Usage: |! )", told, re.MULTILINE)
        # What is inconsistent is what a check is asked for.
        and not (case.arguments[0] == "check" and out.getvalue())
    ):
        fault = f"exit code {number} without a word"
    if not fault and CANARY in told:
        fault = "a value of a data file was shown"
    if not fault and seconds > SECONDS:
        fault = "slow"
    if not fault and _peak() - before > MEMORY * 1.5:
        fault = "memory"
    return Outcome(number, fault, (trace + told)[-3_000:], seconds)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
