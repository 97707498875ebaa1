"""Pages whose commands are run: what a person would type, and what they would see.

A block marked ``console`` holds commands after ``$`` and what they print, on a terminal that is 120
columns wide. A line that ends in a backslash goes on after ``>``. A block with a title, such as
``json title="edits.json"``, is a file of that name. All blocks of a page are run in order in one
empty folder.

Lines longer than the terminal are folded at spaces. Times, and what depends on them, are compared
as such: any time is as good as any other.

``python -m tests.examples.console PAGE...`` writes into pages what the commands print now.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.cli import commands as show
from gamekeeper.cli.app import main

WIDTH = 120
HOME = "/home/ann"
"""What pages call the folder in which their commands are run."""

_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(( | at |T)\d\d:\d\d(:\d\d)?)?|\d{8}T\d{6}Z")
# Versions of libraries, and what depends on them: how a library writes a file.
_VERSION = re.compile(r"\b(duckdb|numpy|input) [0-9a-f.]+")

# What the demo printed, and the folder that has its files until the tests have ended.
_demo: list[tuple[str, tempfile.TemporaryDirectory[str]]] = []


@dataclass(frozen=True)
class Step:
    """A command of a page, what the page says that it prints, and what it does print."""

    command: str
    said: str
    printed: str

    @property
    def is_as_said(self) -> bool:
        return _timeless(self.said) == _timeless(self.printed)


def has_commands(page: Path) -> bool:
    return "```console\n" in page.read_text(encoding="utf-8")


def run_page(page: Path, folder: Path) -> Iterator[Step]:
    """Run the commands of a page in an empty folder, which must be the working directory."""
    assert Path.cwd() == folder
    for language, title, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        elif language == "console":
            for command, said in _commands(text):
                printed = _printed(command).replace(str(folder), HOME)
                yield Step(command, said, _folded(printed))


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Return the commands of a block as they are written, each with the lines below it."""
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        lines = part.splitlines(keepends=True)
        assert not lines or lines[0].startswith("$ "), f"a block starts with output: {lines[0]}"
        n_typed = 1
        while n_typed < len(lines) and lines[n_typed - 1].endswith("\\\n"):
            assert lines[n_typed].startswith("> "), f"a command breaks off: {lines[n_typed - 1]}"
            n_typed += 1
        if lines:
            yield "".join(lines[:n_typed]), "".join(lines[n_typed:])


def _printed(written: str) -> str:
    command = re.sub(r"\\\n> *", "", written.removeprefix("$ ")).rstrip("\n")
    words = shlex.split(command)
    if words[0] == "export":
        name, _, value = words[1].partition("=")
        os.environ[name] = value
        return ""
    if words[0] not in ("gamekeeper", "python"):
        both = subprocess.STDOUT
        return subprocess.check_output(["/bin/sh", "-c", command], stderr=both, text=True)
    target = source = ""
    if words[-2] == ">":
        *words, _, target = words
    elif words[-2] == "<":
        *words, _, source = words
    if words == ["gamekeeper", "demo"]:
        printed = of_demo()
    else:
        printed = _of_python(words, Path(source).read_text(encoding="utf-8") if source else "")
    if target:
        Path(target).write_text(printed, encoding="utf-8")
    return "" if target else printed


def of_demo() -> str:
    """Return what the demo prints, with its files here. Many pages begin with it: it runs once."""
    if not _demo:
        text = _of_python(["gamekeeper", "demo"], "")
        kept = tempfile.TemporaryDirectory()
        shutil.copytree("demo-output", kept.name, dirs_exist_ok=True)
        _demo.append((text.replace(str(Path.cwd()), HOME), kept))
    else:
        shutil.copytree(_demo[0][1].name, "demo-output")
    return _demo[0][0]


def _of_python(words: list[str], typed: str) -> str:
    """Return what our command or a script prints to both streams, as a terminal shows them."""
    out = io.StringIO()
    code: object = 0
    is_ours = words[0] == "gamekeeper"
    width, given, keyboard = show.output().width, sys.argv, sys.stdin
    show.output().width, sys.stdin = WIDTH, io.StringIO(typed)
    sys.argv = words if is_ours else words[1:]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            if is_ours:
                try:
                    main()
                except SystemExit as end:
                    code = end.code
            else:
                runpy.run_path(words[1], run_name="__main__")
    finally:
        show.output().width, sys.argv, sys.stdin = width, given, keyboard
    assert code != 1, out.getvalue()
    return out.getvalue()


def _folded(text: str) -> str:
    folded: list[str] = []
    for line in text.splitlines():
        short = line.rstrip()
        indent = " " * (len(short) - len(short.lstrip()) + 2)
        parts = textwrap.wrap(
            short, WIDTH, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True
        )
        folded += parts if len(short) > WIDTH else [short]
    return "".join(f"{line}\n" for line in folded).strip("\n") + "\n" if text.strip() else ""


def _timeless(text: str) -> str:
    return _VERSION.sub(r"\1", _TIME.sub("TIME", text)).rstrip("\n")


def rewritten(page: Path) -> str:
    """Return a page with what its commands print now; what differs in times alone stays."""
    text = page.read_text(encoding="utf-8")
    before, given = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            steps = list(run_page(page, Path.cwd()))
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(given)
    place = 0
    for step in steps:
        place = text.index(step.command + step.said, place) + len(step.command)
        if not step.is_as_said:
            text = text[:place] + step.printed + text[place + len(step.said) :]
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        given_page = Path(name).resolve()
        given_page.write_text(rewritten(given_page), encoding="utf-8")
