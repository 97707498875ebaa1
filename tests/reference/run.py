"""Run every case of a folder of worked examples: python -m tests.reference.run FOLDER

With --engine=NAME before the folder, records are counted by that engine, as files are: duckdb,
spark (two threads of this machine), or whatever names a cluster. With --through-store, every
environment of a case is kept in a store first, and the one that comes out of it is used;
--through-store=postgresql takes one on a PostgreSQL server, which runs for as long.

Exit code 0 if nothing failed, 1 if something failed, 2 if there is nothing to run. A file of a
kind that is not supported yet is reported as such and never counted as passed, and so is a case
whose data are not here; the environment variable GAMEKEEPER_DATA names a folder to look in.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from gamekeeper import GamekeeperError
from tests.postgres import MissingError
from tests.reference.cases import Case, CaseOutcome, Check, FileOutcome, NotRun, ShapeError
from tests.reference.counting import through_an_engine
from tests.reference.keeping import STORES, through_a_store
from tests.reference.keys import KEYS
from tests.reference.linkage import LINKAGE
from tests.reference.models import MODELS
from tests.reference.protect import PROTECT
from tests.reference.risk import RISK
from tests.reference.tables import TABLES

__all__ = ["KINDS", "main", "run_file", "run_folder"]

KINDS: Mapping[str, Check] = {**KEYS, **RISK, **MODELS, **TABLES, **LINKAGE, **PROTECT}
"""Every supported kind with its check; later stages add theirs."""

_SPARK = "local[2]"
_SHOWN_CASES = 3
_SHOWN_FAULTS = 3


def main(arguments: Sequence[str]) -> int:
    """Run the folder that is named, print what happened, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    option, _, kind = (arguments[0] if arguments else "").partition("=")
    if option == "--engine":
        return _through_engine(kind, arguments[1:])
    if option == "--through-store":
        # STORE=1 means a file, as it always did.
        kind = "sqlite" if kind in ("", "1") else kind
        if kind not in STORES:
            print(f"A store '{kind}' was asked for. There are: {', '.join(STORES)}.")
            return 2
        try:
            with through_a_store(kind):
                return main(arguments[1:])
        except MissingError as missing:
            print(f"A PostgreSQL server was to be started, and there is none: {missing}.")
            return 2
    if len(arguments) != 1:
        print("Name one folder of worked examples: python -m tests.reference.run FOLDER")
        return 2
    folder = Path(arguments[0])
    if not folder.is_dir():
        print(f"The worked examples in '{folder}' were asked for. There is no such folder.")
        return 2
    outcomes: list[FileOutcome] = []
    for outcome in run_folder(folder):
        print("\n".join(_lines(outcome)), flush=True)
        outcomes.append(outcome)
    if all(outcome.is_empty for outcome in outcomes):
        print(f"The worked examples in '{folder}' were asked for. There are no cases in it.")
        return 2
    return _summed_up(outcomes)


def _through_engine(named: str, rest: Sequence[str]) -> int:
    try:
        with through_an_engine(_SPARK if named == "spark" else named) as counted:
            code = main(rest)
            print(f"{len(counted)} times records were counted by that engine.")
    except GamekeeperError as error:
        print(error)
        return 2
    return code


def run_folder(folder: Path) -> Iterator[FileOutcome]:
    """Run every JSON file of a folder, in the order of names."""
    for path in sorted(folder.glob("*.json")):
        yield run_file(path)


def run_file(path: Path) -> FileOutcome:
    """Run every case of one file."""
    kind = path.stem
    try:
        content = _read(path)
        kind = str(content.get("kind") or content.get("topic") or kind)
        check = KINDS.get(kind)
        if check is None:
            return FileOutcome(path.name, kind, is_supported=False)
        cases = content.get("cases")
        if not isinstance(cases, list):
            raise ShapeError("it has no list of 'cases'")
    except ShapeError as error:
        return FileOutcome(path.name, kind, fault=str(error))
    numbered = enumerate(cast("list[Any]", cases), start=1)
    return FileOutcome(
        path.name, kind, cases=tuple(_run_case(check, number, case) for number, case in numbered)
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ShapeError(f"it cannot be read as JSON ({type(error).__name__})") from error
    return _object(content, "it is not an object with 'cases'")


def _run_case(check: Check, number: int, content: Any) -> CaseOutcome:
    name = f"#{number}"
    try:
        parts = _object(content, "it is not an object with 'input' and 'expected'")
        name = str(parts.get("id", name))
        case = Case(
            name,
            _object(parts.get("input"), "it has no 'input'"),
            _object(parts.get("expected"), "it has no 'expected'"),
        )
        check(case)
    except NotRun as error:
        return CaseOutcome(name, (), not_run=str(error))
    except ShapeError as error:
        return CaseOutcome(name, (f"unexpected shape: {error}",))
    except GamekeeperError as error:
        return CaseOutcome(name, (f"refused: {error}",))
    except Exception as error:  # noqa: BLE001 - whatever one case does, the others still run
        return CaseOutcome(name, (f"stopped by {type(error).__name__}: {error}",))
    faults = [str(difference) for difference in case.differences]
    if not case.compared:
        faults.append("it expects nothing that can be compared")
    left = sorted(set(case.expected) - case.compared - case.described)
    return CaseOutcome(name, tuple(faults), tuple(field for field in left if case.defines(field)))


def _object(content: Any, otherwise: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ShapeError(otherwise)
    return cast("dict[str, Any]", content)


def _lines(outcome: FileOutcome) -> Iterator[str]:
    head = f"{outcome.name:<48} {outcome.kind:<44}"
    if not outcome.is_supported:
        yield f"{head} not yet supported"
    elif outcome.fault or outcome.is_empty:
        yield f"{head} failed: {outcome.fault or 'it has no cases'}"
    else:
        left = sorted({name for case in outcome.cases for name in case.not_compared})
        note = f" (not compared: {', '.join(left)})" if left else ""
        yield f"{head} {outcome.n_passed}/{outcome.n_run} passed{note}"
    for case in outcome.cases:
        if case.not_run:
            yield f"    {case.name}: not run: {case.not_run}"
    failed = [case for case in outcome.cases if case.faults]
    for case in failed[:_SHOWN_CASES]:
        for fault in case.faults[:_SHOWN_FAULTS]:
            yield f"    {case.name}: {' '.join(fault.split())}"
        if len(case.faults) > _SHOWN_FAULTS:
            yield f"    {case.name}: and {len(case.faults) - _SHOWN_FAULTS} more differences"
    if len(failed) > _SHOWN_CASES:
        yield f"    and {len(failed) - _SHOWN_CASES} more failed cases"


def _summed_up(outcomes: Sequence[FileOutcome]) -> int:
    supported = [outcome for outcome in outcomes if outcome.is_supported]
    failed = [outcome.name for outcome in supported if outcome.is_failed]
    n_passed = sum(outcome.n_passed for outcome in supported)
    n_cases = sum(outcome.n_run for outcome in supported)
    n_not_run = sum(len(outcome.cases) for outcome in supported) - n_cases
    print(
        f"{n_passed} of {n_cases} cases passed in {len(supported)} files;"
        f" {len(outcomes) - len(supported)} files not yet supported"
        + (f"; {n_not_run} cases not run." if n_not_run else ".")
    )
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
