"""Everything that is written passes the gate, and no command can be made to spoil what it reads.

Commands, their inputs and their outputs are found by themselves: whatever is added is tried here.
"""

from __future__ import annotations

import ast
import inspect
import os
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gamekeeper.workbench.requests as requests
from gamekeeper.cli.app import PARTS, load
from gamekeeper.errors import StoreError
from gamekeeper.files import one_run, require_ordinary, write_file
from gamekeeper.options import Field, options_of
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.workbench.answers import _ENDINGS, _FOLDERS
from tests.cli.conftest import run  # noqa: F401 - a fixture

PACKAGE = Path(inspect.getfile(requests)).parents[2]


def within(found: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(found, "commands"):
        yield name, found
    for own, inner in getattr(found, "commands", {}).items():
        yield from within(inner, f"{name} {own}")


@cache
def asked_by() -> dict[str, type]:
    """Return the request of every command that is made from one."""
    found: dict[str, type] = {}
    for part in PARTS:
        for name, command in within(load(part), part):
            assert command.params is not None
            work = inspect.unwrap(command.callback)
            first = next(iter(inspect.signature(work).parameters.values()), None)
            # By name: the checker alone knows some of the other annotations.
            home, *rest = str(first.annotation if first else "").split(".")
            request = reduce(
                lambda own, name: getattr(own, name, None), rest, work.__globals__.get(home)
            )
            if is_dataclass(request):
                found[name] = request
    return found


def is_path(item: Field) -> bool:
    return Path in (item.kind, item.element)


def outputs(request: type) -> list[Field]:
    return [item for item in options_of(request) if item.option.writes]


def inputs(request: type) -> list[Field]:
    return [item for item in options_of(request) if is_path(item) and not item.option.writes]


def cases() -> Iterator[Any]:
    """Yield every output of every command with every input; links and stores with the first."""
    for command, request in asked_by().items():
        for output in outputs(request):
            for number, source in enumerate(inputs(request)):
                for there in ("file", "link", "store")[: 1 if number else 3]:
                    name = f"{command} {output.name} {source.name} {there}"
                    yield pytest.param(command, output.name, source.name, there, id=name)


CASES = list(cases())


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("store") / "s.gk"
    EnvironmentStore.create(path, who="ana").close()
    return path.read_bytes()


def test_every_request_with_an_output_belongs_to_a_command_and_may_replace():
    every = {
        found
        for module in pkgutil.walk_packages(requests.__path__, f"{requests.__name__}.")
        for found in vars(import_module(module.name)).values()
        if isinstance(found, type) and is_dataclass(found) and found.__name__.endswith("Request")
    }
    parts = {"MicrodataRequest"}
    writing = {found for found in every if outputs(found) and found.__name__ not in parts}
    assert writing - set(asked_by().values()) == set()
    assert len(CASES) > 60
    for request in writing:
        kinds = {item.option.writes for item in outputs(request)}
        names = {item.name for item in options_of(request)}
        assert kinds <= {"folder", "values"} or "replace" in names, request.__name__
        assert "table" not in kinds or "raw" in names, request.__name__


def typed(request: type, values: dict[str, Path]) -> list[str]:
    """Return what is typed for a request: paths as given, whatever else must be given as a word."""
    words: list[str] = []
    for item in options_of(request):
        value = str(values[item.name]) if item.name in values else ""
        if not value and item.is_required:
            value = "1" if item.kind is int else "word"
        if not value:
            continue
        flag = (item.option.flags or f"--{item.name.replace('_', '-')}").split()[0]
        words += [value] if item.option.is_argument else [flag, value]
    return words


@pytest.mark.parametrize(("command", "output", "source", "there"), CASES)
def test_no_output_spoils_an_input(run, tmp_path, store, command, output, source, there):  # noqa: F811
    request = asked_by()[command]
    (written,) = (item for item in outputs(request) if item.name == output)
    ending = _ENDINGS.get(written.option.writes, (".csv",))[0]
    read: dict[str, Path] = {}
    for item in inputs(request):
        read[item.name] = tmp_path / f"{item.name}{ending}"
        read[item.name].write_text("Age,Sex\n1,2\n")
    target = read[source]
    if there == "store":
        target.write_bytes(store)
    elif there == "link":
        target = tmp_path / f"link{ending}"
        target.symlink_to(read[source])
    before = {path: path.read_bytes() for path in read.values()}
    told = run(*command.split(), *typed(request, {**read, output: target}))
    assert told.exit_code == 2, told.err
    assert "[not-writable]" in told.err
    assert {path: path.read_bytes() for path in read.values()} == before
    assert target.is_symlink() == (there == "link")


@pytest.mark.parametrize("command", sorted({case.values[0] for case in CASES}))
def test_outputs_are_ordinary_files_outside_of_environments(run, tmp_path, command):  # noqa: F811
    request = asked_by()[command]
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "environment.json").write_text('{"format": "gamekeeper environment"}')
    read: dict[str, Path] = {}
    for item in inputs(request):
        read[item.name] = tmp_path / f"{item.name}.csv"
        read[item.name].write_text("Age,Sex\n1,2\n")
    for item in outputs(request):
        ending = _ENDINGS.get(item.option.writes, (".csv",))[0]
        pipe = tmp_path / f"pipe-{item.name}{ending}"
        os.mkfifo(pipe)
        for target in (pipe, environment / f"new{ending}"):
            told = run(*command.split(), *typed(request, {**read, item.name: target}))
            assert told.exit_code == 2, told.err
            assert "[not-writable]" in told.err
        if item.option.writes not in _FOLDERS:
            there = tmp_path / f"there{ending}"
            there.write_text("kept")
            told = run(*command.split(), *typed(request, {**read, item.name: there}))
            assert (told.exit_code, there.read_text()) == (2, "kept"), told.err
            assert "is there already" in told.err


# What could change a file or a folder, by the name that is called.
_WRITERS = {
    "write_text", "write_bytes", "touch", "mkdir", "makedirs", "mkdtemp", "mkstemp", "rename",
    "renames", "unlink", "rmdir", "symlink_to", "hardlink_to", "symlink", "link", "chmod", "chown",
    "truncate", "ftruncate", "copyfile", "copy2", "copytree", "copyfileobj", "NamedTemporaryFile",
    "TemporaryDirectory", "TemporaryFile", "SpooledTemporaryFile", "tofile", "save", "savetxt",
    "to_csv", "to_parquet", "to_excel", "memmap", "open_file", "removedirs",
}  # fmt: skip
# What is called so and writes no file, or is no work of ours.
_ELSEWHERE = {
    "algorithms/blocks.py": {"unlink"},  # shared memory
    "data/reading/apart.py": {"write_text"},  # which process the system is to take first
    "workbench/environment/mapping.py": {"save"},  # and here it is called
    "workbench/demo_walk.py": {"save"},
}


def writers(tree: ast.AST) -> Iterator[str]:
    """Yield the names of calls that could change a file, and of opening one to write."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        of = getattr(getattr(called, "value", None), "id", "")
        if name == "open" and _opens_to_write(node, of):
            yield "open"
        elif name in _WRITERS or (of == "os" and name in ("replace", "remove", "write")):
            yield name


def _opens_to_write(node: ast.Call, of: str) -> bool:
    values = [*node.args, *(item.value for item in node.keywords)]
    if of == "os":
        text = " ".join(map(ast.unparse, values))
        return "devnull" not in text and any(flag in text for flag in ("WRONLY", "RDWR", "CREAT"))
    modes = [item.value for item in values if isinstance(item, ast.Constant)]
    return any(
        isinstance(mode, str) and set(mode) & set("wxa+") and len(mode) <= 3 for mode in modes
    )


# What has none of these words before a bracket need not be read as a tree.
_COULD_WRITE = re.compile(rf"\b(?:open|{'|'.join(_WRITERS)}|os\.(?:replace|remove|write))\s*\(")


@pytest.mark.slow
def test_nothing_else_opens_files_to_write():
    texts = {
        str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "files.py"
    }
    found = {
        (path, name)
        for path, text in texts.items()
        if _COULD_WRITE.search(text)
        for name in writers(ast.parse(text))
    }
    known = {(path, name) for path, names in _ELSEWHERE.items() for name in names}
    assert found - known == set()
    assert known - found == set()


@pytest.mark.parametrize(
    "text",
    ["p.open('w')", "open(p, mode='xb')", "os.open(p, os.O_CREAT)", "p.write_bytes(b'')",
     "os.replace(a, b)", "p.mkdir()", "p.rename(q)", "np.save(p, a)"],
)  # fmt: skip
def test_what_writes_is_found(text):
    assert _COULD_WRITE.search(text)
    assert list(writers(ast.parse(text)))


@pytest.mark.parametrize(
    "text", ["p.open()", "open(p, 'rb')", "s.replace('a', 'b')", "Store.open(p)"]
)
def test_what_only_reads_is_passed_over(text):
    assert list(writers(ast.parse(text))) == []


def test_what_is_named_within_another_option_is_not_replaced(tmp_path: Path, run, monkeypatch):  # noqa: F811
    """Hierarchies, codes and policies are read too, and whoever writes may not know of them."""
    texts = {
        "t.csv": "A,n\nx,1\ny,2\nTotal,3\n",
        "h.csv": "code,parent\nx,Total\ny,Total\n",
        "people.csv": "Area,Sex\n" + "n,f\nn,m\ns,f\ns,m\n" * 3,
        "code.csv": "code,parent\nf,all\nm,all\n",
        "pol.json": '{"policy": "own", "criteria": {"k_anonymity": 2}}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    asked = [
        ("h.csv", ("tables", "audit", "t.csv", "--hierarchy", "A=h.csv", "--output")),
        ("code.csv", ("tables", "mark", "people.csv", "--axes", "Area,Sex", "--rule", "minimum:3",
                      "--hierarchy", "Sex=code.csv", "--output")),
        ("pol.json", ("protect", "try", "people.csv", "-k", "Area,Sex", "-t", "policy=pol.json",
                      "--recipe")),
    ]  # fmt: skip
    for name, words in asked:
        done = run(*words, name, "--replace")
        assert (done.exit_code, (tmp_path / name).read_text()) == (2, texts[name]), (name, done)
        assert "is to be read, and would be replaced" in done.err, done.err


def test_the_gate_knows_every_file_that_a_run_has_read(tmp_path: Path):
    read, other = tmp_path / "read.txt", tmp_path / "other.txt"
    for path in (read, other):
        path.write_text("words")
    with one_run():
        require_ordinary(read)
        (tmp_path / "link.txt").hardlink_to(read)
        for path in (read, tmp_path / "link.txt"):
            with pytest.raises(StoreError, match="was read for this, and would be lost"):
                write_file(path, b"", private=False)
        write_file(other, b"new", private=False)
    assert (read.read_text(), other.read_text()) == ("words", "new")
    write_file(read, b"later", private=False)
