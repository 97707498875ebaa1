"""Whatever a page or a docstring says about where something is: it is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gamekeeper"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted(PACKAGE.rglob("*.py"))
# In these a name such as mapping.codes or data/engine means a module of the package.
ABOUT_THE_HOUSE = [ROOT / "ARCHITECTURE.md", ROOT / "docs" / "explain" / "decisions.md"]

_ROOM = "|".join(ROOMS)
_DOTTED = re.compile(r"\bgamekeeper(?:\.\w+)+")
_FILES = re.compile(
    rf"(?<![\w/.-])((?:{_ROOM}|src|tests|benchmarks|docs)(?:/[\w-]+)+\.(?:py|md))\b"
)
_FOLDERS = re.compile(rf"`((?:{_ROOM}|tests|docs|benchmarks)(?:/\w+)*)/?`")
_MODULES = re.compile(rf"(?<![\w./-])((?:{_ROOM})(?:\.[a-z_]+)+)\b(?!\()")


def lines(page: Path, pattern: re.Pattern[str]) -> Iterator[str]:
    for found in pattern.finditer(page.read_text(encoding="utf-8")):
        yield found[found.lastindex or 0]


def is_there(path: str) -> bool:
    return any((place / path).exists() for place in (ROOT, PACKAGE))


def is_known(name: str) -> bool:
    """Tell whether a dotted name is a module, or something that a module has."""
    parts = name.split(".")
    for n_parts in range(len(parts), 0, -1):
        place = ROOT / "src" / Path(*parts[:n_parts])
        if place.with_suffix(".py").exists() or (place / "__init__.py").exists():
            found: object = import_module(".".join(parts[:n_parts]))
            for part in parts[n_parts:]:
                if not hasattr(found, part):
                    return False
                found = getattr(found, part)
            return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_what_is_there(page: Path):
    assert [path for path in lines(page, _FILES) if not is_there(path)] == []
    assert [name for name in lines(page, _DOTTED) if not is_known(name)] == []


@pytest.mark.parametrize("page", ABOUT_THE_HOUSE, ids=lambda page: page.name)
def test_rooms_and_modules_are_there(page: Path):
    assert [path for path in lines(page, _FOLDERS) if not is_there(path)] == []
    named = [f"gamekeeper.{name}" for name in lines(page, _MODULES)]
    assert [name for name in named if not is_known(name)] == []


def test_sources_name_what_is_there():
    wrong = [
        (str(source.relative_to(ROOT)), name)
        for source in SOURCES
        for name in (
            *(path for path in lines(source, _FILES) if not is_there(path)),
            *(name for name in set(lines(source, _DOTTED)) if not is_known(name)),
        )
    ]
    assert wrong == []


def test_every_room_says_where_to_begin_with_something_that_it_has():
    for room in sorted(PACKAGE.rglob("__init__.py")):
        for said in re.findall(r"Begin with `(\w+)`", room.read_text(encoding="utf-8")):
            homes = (room.parent / f"{said}.py", room.parent / said / "__init__.py")
            assert any(home.exists() for home in homes), f"{room.parent.name}: {said}"


@pytest.mark.parametrize("room", ["data", "mapping", "attack", "workbench"])
def test_the_table_of_rooms_names_each(room: str):
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    # The first line is that of the layers, the second that of the rooms within.
    _, rooms = re.findall(rf"^\| `{room}` \| (.*) \|$", text, re.MULTILINE)
    inner = {path.parent.name for path in (PACKAGE / room).glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)`", rooms)) == inner


def test_the_table_of_layers_names_each():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| `risk`, .*?\n\n", text, re.MULTILINE | re.DOTALL)
    first = re.findall(r"^\|(.*?)\|", table, re.MULTILINE)
    modules = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert sorted(re.findall(r"`(\w+)`", "".join(first))) == sorted([*ROOMS, *modules])


def test_the_first_modules_of_algorithms_are_as_their_rooms_say():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| `algorithms/` .*?\n\n", text, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| `(\w+)` \|.*\| `(\w+)` \|$", table, re.MULTILINE)
    said = {
        path.parent.name: re.findall(r"Begin with `(\w+)`", path.read_text(encoding="utf-8"))[0]
        for path in (PACKAGE / "algorithms").glob("*/__init__.py")
    }
    assert dict(rows) == said


def test_rooms_of_algorithms_import_nothing_at_their_door():
    for door in (PACKAGE / "algorithms").rglob("__init__.py"):
        assert "import" not in door.read_text(encoding="utf-8").split(), door.parent.name
