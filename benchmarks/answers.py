"""Keep what some hundred commands answer, to prove that a refactoring changes none of it.

`python -m benchmarks.answers run --source SRC_FOLDER OUT_FOLDER [--only PREFIX]` runs them on the
sources in SRC_FOLDER and keeps one JSON file per command: exit code, what it printed, files made.
Beside them it keeps the doors: all public names with their signatures, and every command's help.
`python -m benchmarks.answers compare BEFORE AFTER [--stated PATTERN ...]` lists every difference by
command and place, apart from those that a pattern finds (changes that are meant). Times, versions
and the names of temporary folders never count; floats are equal to 1e-9. Nothing is timed here, and
nothing of gamekeeper is imported: the doors are read by a process of their own.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import html
import json
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.answers_commands import COMMANDS, FILES, WORDS

__all__ = ["compare", "main", "run"]

_MAIN = "import sys; sys.argv[0] = 'gamekeeper'; from gamekeeper.cli.app import main; main()"
# What a module is called within the package is no part of a door, nor is an address in a repr.
_DOORS = """
import enum, inspect, json, re
import click, typer.main
from typer.testing import CliRunner
import gamekeeper
from gamekeeper.cli.app import app

def told(value):
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return type(value).__name__
    return re.sub(r"gamekeeper[.\\w]*[.](?=[A-Z])| at 0x[0-9a-f]+", "", text)

names = {}
homes = {"gk": gamekeeper}
homes |= {name: home for name in dir(gamekeeper) if inspect.ismodule(home := getattr(gamekeeper, name))}
for home, module in homes.items():
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        names[f"{home}.{name}"] = told(value)
        if inspect.isclass(value) and not issubclass(value, enum.Enum):
            for part, found in inspect.getmembers(value):
                if not part.startswith("_"):
                    names[f"{home}.{name}.{part}"] = told(found)

helps = {}
def walk(command, path):
    helps[" ".join(path)] = CliRunner().invoke(app, [*path, "--help"]).output.splitlines()
    # Parts are loaded where they are asked for, which a context does.
    for name in getattr(command, "commands", ()):
        found = command.resolve_command(click.Context(command), [name])[1]
        walk(found, [*path, name])
walk(typer.main.get_command(app), [])
print(json.dumps({"names": names, "helps": helps}))
"""
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_TIME = re.compile(
    _DATE.pattern + r"|\d\d:\d\d:\d\d UTC|[\d.]+ seconds|(?<=[Gg]amekeeper )\d+\.[.\w]+"
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_TIMES_TABLE = re.compile(r"(?s)Seconds per sample.*?</table>")
_MARKUP = re.compile(r"(?s)<(style|script|svg)\b.*?</\1>|<[^>]*>")


def run(source: Path, out: Path, only: str = "") -> None:
    """Run the commands whose name begins with `only` and write their answers to a folder."""
    if not (source / "gamekeeper").is_dir():  # or what is installed would answer instead
        raise SystemExit(f"{source} holds no package of the name gamekeeper")
    out.mkdir(parents=True, exist_ok=True)
    # The name has the same length each time, so that lines with it are broken alike.
    work = Path(tempfile.mkdtemp(prefix="answers-")).resolve()
    try:
        for number, line in enumerate(filter(None, map(str.strip, COMMANDS.splitlines()))):
            name, _, text = line.partition(": ")
            arguments = shlex.split(Template(text).substitute(WORDS))
            plain = name.startswith("-")
            name = name.lstrip("*-")
            if number and not name.startswith(only):
                continue
            runs = {name: arguments} if plain else {name: [*arguments, "--format", "json"]}
            if line.startswith("*"):
                runs[f"{name}.words"] = arguments
            for title, given in runs.items():
                print(title, flush=True)
                answer = json.dumps(_answer(source, work, given), ensure_ascii=False, indent=1)
                (out / f"{title}.json").write_text(answer.replace(str(work), "WORK"), "utf-8")
            if not number:
                _prepare(work)
        if not only:
            settings = {"PYTHONPATH": str(source.resolve()), "COLUMNS": "120"}
            doors = subprocess.run(
                [sys.executable, "-c", _DOORS], cwd=work, env={**os.environ, **settings},
                capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, check=True,
            )  # fmt: skip
            (out / "doors.json").write_text(doors.stdout, "utf-8")
    finally:
        shutil.rmtree(work)


def _answer(source: Path, work: Path, arguments: list[str]) -> dict[str, Any]:
    """Run one command in the folder; return what can be told of it."""
    before = _stamps(work)
    settings = {"PYTHONPATH": str(source.resolve()), "GAMEKEEPER_WHO": "ann", "COLUMNS": "120"}
    told = subprocess.run(
        [sys.executable, "-c", _MAIN, *arguments], cwd=work, env={**os.environ, **settings},
        capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=600, check=False,
    )  # fmt: skip
    try:
        printed = json.loads(told.stdout)
    except ValueError:
        printed = told.stdout.splitlines()
    files = [path for path, stamp in _stamps(work).items() if before.get(path) != stamp]
    return {
        "command": arguments,
        "exit": told.returncode,
        "stdout": printed,
        "stderr": told.stderr.splitlines(),
        "files": {str(path.relative_to(work)): _content(path) for path in sorted(files)},
    }


def _stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}


def _content(path: Path) -> Any:
    """Return what a file says: its data, its words, or only whether it is empty."""
    if path.suffix == ".json":
        return json.loads(path.read_text("utf-8"))
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))
    if path.suffix == ".html":
        page = _TIMES_TABLE.sub("", path.read_text("utf-8"))
        words = html.unescape(_MARKUP.sub("\n", page))
        return [line for line in map(str.strip, words.splitlines()) if line]
    return "something" if path.stat().st_size else "empty"


def _prepare(work: Path) -> None:
    """Write the small files that commands read, beside those of the demo."""
    for name, text in FILES.items():
        (work / name).write_text(text, "utf-8")
    shutil.copy(work / "d" / "norland.gk", work / "office.gk")
    rng = random.Random(4)
    with (work / "d" / "census-sample.csv").open(encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    header = ["row", *header]
    records = [[str(number), *record] for number, record in enumerate(records, start=1)]
    swapped = [list(record) for record in records[:400]]
    for one, other in zip(swapped[::5], swapped[1::5], strict=True):
        one[2], other[2] = other[2], one[2]
    holes = [[rng.choice([value] * 9 + [""]) for value in record] for record in records[:300]]
    firms = [(rng.gauss(0, 2), rng.gauss(0, 2)) for _ in range(40)]
    for name, rows in {
        "part": [header, *records[:400]],
        "swapped": [header, *swapped],
        "holes": [header[2:6], *(record[2:6] for record in holes)],
        "accounts": [["firm", "a", "b", "c"], *_mixed(firms, 3, rng)],
        "energy": [["firm", "p", "q", "r", "s"], *_mixed(firms, 4, rng)],
    }.items():
        with (work / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)


def _mixed(firms: list[tuple[float, float]], columns: int, rng: random.Random) -> list[list[Any]]:
    """Return mixtures of two hidden properties of firms, in another order."""
    weights = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(columns)]
    rows = [
        [number, *(round(x * u + y * v + rng.gauss(0, 0.1), 3) for u, v in weights)]
        for number, (x, y) in enumerate(firms, start=1)
    ]
    return rng.sample(rows, len(rows))


def compare(before: Path, after: Path, stated: list[str]) -> int:
    """Print every difference between two folders of answers; return how many there are."""
    names = sorted({path.stem for folder in (before, after) for path in folder.glob("*.json")})
    if not names:
        raise SystemExit(f"there are no answers in {before} and {after}")
    count = 0
    for name in names:
        for place, what in _compared(before / f"{name}.json", after / f"{name}.json"):
            line = f"{name}: {place}: {what}"
            if not any(re.search(pattern, line) for pattern in stated):
                print(line)
                count += 1
    print(f"{len(names)} commands, {count} differences")
    return count


def _compared(before: Path, after: Path) -> Iterator[tuple[str, str]]:
    if not (before.exists() and after.exists()):
        yield "", f"only {'before' if before.exists() else 'after'}"
        return
    one, other = before.read_text("utf-8"), after.read_text("utf-8")
    # The fingerprint of a list with dates is one of the dates as well, and so is a checksum.
    is_dated = _DATE.search(one) is not None
    yield from _differences(
        _timeless(json.loads(one), is_dated), _timeless(json.loads(other), is_dated), "$"
    )


def _timeless(value: Any, is_dated: bool) -> Any:
    """Return a JSON value without times and without versions of the package."""
    if isinstance(value, dict):
        return {
            key: _timeless(item, is_dated)
            for key, item in value.items()
            if key != "seconds"
            and not (key == "version" and isinstance(item, str))
            and not (key in ("fingerprint", "checksum") and is_dated)
        }
    if isinstance(value, list):
        return [_timeless(item, is_dated) for item in value]
    return _TIME.sub("TIME", value) if isinstance(value, str) else value


def _differences(one: Any, other: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield place and kind of every difference between two JSON values."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() == other.keys() and list(one) != list(other):
            yield at, f"keys in another order: {list(one)} is now {list(other)}"
        for key in one | other:
            if key not in one or key not in other:
                yield f"{at}.{key}", "is new" if key in other else "is gone"
            else:
                yield from _differences(one[key], other[key], f"{at}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield at, f"{len(one)} items are now {len(other)}"
        if len(one) != len(other) and all(isinstance(item, str) for item in one + other):
            lines = difflib.unified_diff(one, other, n=0, lineterm="")
            yield from ((at, line) for line in lines if not line.startswith(("---", "+++", "@@")))
            return
        for number, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from _differences(a, b, f"{at}[{number}]")
    elif not _is_same(one, other):
        yield at, f"{_short(one)} is now {_short(other)}"


def _is_same(one: Any, other: Any) -> bool:
    if one == other and type(one) is type(other):
        return True
    kinds = {type(one), type(other)}
    if kinds == {str}:  # cells of text files may be numbers
        are_numbers = _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other) and "." in one + other
        return bool(are_numbers) and _is_same(float(one), float(other))
    # Whole numbers are printed without a point, so that a float may come as either.
    if kinds not in ({float}, {float, int}):
        return False
    both_nan = math.isnan(one) and math.isnan(other)
    return both_nan or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."


def main() -> None:
    """Run the commands, or compare two runs: exit code 1 if they differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers")
    uses = parser.add_subparsers(dest="use", required=True)
    running = uses.add_parser("run")
    running.add_argument("--source", type=Path, required=True, help="folder of the package")
    running.add_argument("--only", default="", help="commands whose name begins so, and the demo")
    running.add_argument("out", type=Path)
    comparing = uses.add_parser("compare")
    comparing.add_argument("--stated", action="append", default=[], help="a change that is meant")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.use == "run":
        run(given.source, given.out, given.only)
    elif compare(given.before, given.after, given.stated):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
