"""Whatever a page or a docstring says about where something is: it is there."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gamekeeper"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
HOUSE = ROOT / "ARCHITECTURE.md"
DECISIONS = sorted(PACKAGE.rglob("DECISIONS.md"))
PAGES = [
    HOUSE,
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *DECISIONS,
]
SOURCES = sorted(PACKAGE.rglob("*.py"))
CLASSES = {
    name
    for source in SOURCES
    for name in re.findall(r"^class (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE)
}
# In these a name such as mapping.codes or data/engine means a module of the package.
ABOUT_THE_HOUSE = [HOUSE, ROOT / "CONTRIBUTING.md", *DECISIONS]

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


@pytest.mark.parametrize("page", ABOUT_THE_HOUSE, ids=lambda page: str(page.relative_to(ROOT)))
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


def section(heading: str) -> str:
    """Return a section of ARCHITECTURE.md, without those below it."""
    text = HOUSE.read_text(encoding="utf-8")
    (found,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return found


def test_the_picture_has_the_layers_in_their_order():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["id"] == "layers")
    picture = section("The house").split("```")[1]
    drawn = re.findall(r"^.{17}([a-z]\w*(?: · \w+)*)", picture, re.MULTILINE)
    assert [line.replace(" · ", " | ") for line in drawn] == layers[1:]


def first_words(room: Path) -> str | None:
    """Return what a room says to begin with, None where it says nothing."""
    said = re.search(r"Begin with `(\w+)`", (room / "__init__.py").read_text(encoding="utf-8"))
    return said[1] if said else None


def test_the_table_names_every_room_and_where_to_begin():
    rows = re.findall(r"^\| `([\w/]+)` \| (.+) \| `(\w+)` \|$", section("Rooms"), re.MULTILINE)
    rooms = sorted(path.parent for path in PACKAGE.rglob("*/__init__.py"))
    assert [name for name, _, _ in rows] == [str(room.relative_to(PACKAGE)) for room in rooms]
    for room, (name, _, first) in zip(rooms, rows, strict=True):
        assert (room / f"{first}.py").exists() or (room / first / "__init__.py").exists(), name
        assert first_words(room) in (None, first), name


def names_in(file: Path) -> set[str]:
    """Return what a file defines: functions, classes and their methods."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


@pytest.mark.parametrize(
    "command", ["gamekeeper map", "gamekeeper risk suda", "gamekeeper protect try"]
)
def test_a_walk_names_what_is_there(command: str):
    steps = re.findall(r"^\d+\. `([\w/.]+)`: (.*)$", section(f"`{command}`.*?"), re.MULTILINE)
    assert len(steps) >= 12
    for file, words in steps:
        named = set(re.findall(r"`([A-Za-z_][\w.]*)`", words))
        here = names_in(PACKAGE / file)
        assert named & here, file
        # What is not defined in the file is a class that the words are about.
        assert named - here <= CLASSES, file


def test_what_passes_from_room_to_room_is_there():
    named = re.findall(r"`(\w+)`", section("What passes from room to room"))
    assert len(named) > 20
    assert set(named) <= CLASSES


def test_every_decision_has_a_day_and_the_index_every_page():
    for page in DECISIONS:
        for entry in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            assert re.match(r".+\n\n\*20\d\d-\d\d-\d\d\.\* [A-Z`]", entry), (page, entry[:60])
    linked = re.findall(r"\]\((src/[\w/]*DECISIONS\.md)\)", HOUSE.read_text(encoding="utf-8"))
    assert sorted(linked) == sorted(str(page.relative_to(ROOT)) for page in DECISIONS)


def test_the_house_is_read_in_ten_minutes():
    words = re.findall(r"\S*\w\S*", HOUSE.read_text(encoding="utf-8"))
    assert len(words) <= 1_800


def test_rooms_of_algorithms_import_nothing_at_their_door():
    for door in (PACKAGE / "algorithms").rglob("__init__.py"):
        assert "import" not in door.read_text(encoding="utf-8").split(), door.parent.name
