from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gamekeeper
from gamekeeper import budget

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(gamekeeper.__path__, "gamekeeper.")
    if not module.name.endswith("__main__")
)


HOMES = (
    "data",
    "importing",
    "link",
    "mapping",
    "models",
    "protection",
    "report",
    "risk",
    "store",
    "tables",
)
PUBLIC = [("", name) for name in gamekeeper.__all__]
PUBLIC += [(home, name) for home in HOMES for name in getattr(gamekeeper, home).__all__]


@pytest.mark.parametrize("home", ["", *HOMES])
def test_the_public_names_are_sorted_and_all_there_is(home):
    module = getattr(gamekeeper, home) if home else gamekeeper
    names = module.__all__
    assert list(names) == sorted(names)
    assert dir(module) == list(names)


# One test for all names, and one for all modules: a thousand would cost more than what they look at.
def test_every_public_name_is_documented():
    for home, name in PUBLIC:
        value = getattr(getattr(gamekeeper, home) if home else gamekeeper, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert value.__module__.startswith("gamekeeper."), (home, name)
            assert inspect.getdoc(value), (home, name)
            # In gk.link a function is called by what it links.
            assert value.__name__ in (name, f"{home}_{name}"), (home, name)


def test_what_is_on_top_is_what_its_home_has():
    homes = [getattr(gamekeeper, home) for home in HOMES]
    for name in set(gamekeeper.__all__) - set(HOMES) - {"errors"}:
        value = getattr(gamekeeper, name)
        places = [home for home in homes if name in home.__all__]
        places += [module for module in (budget, gamekeeper.errors) if hasattr(module, name)]
        assert places, name
        assert all(getattr(place, name) is value for place in places)


def test_a_name_that_is_not_there_is_said_as_python_says_it():
    with pytest.raises(AttributeError, match=r"module 'gamekeeper' has no attribute 'link_files'"):
        _ = gamekeeper.link_files
    with pytest.raises(ImportError, match="cannot import name 'link_files'"):
        exec("from gamekeeper.link import link_files")


def test_names_come_by_a_star_and_at_the_prompt():
    given: dict[str, object] = {}
    exec("from gamekeeper.tables import *", given)
    assert set(gamekeeper.tables.__all__) <= set(given)


def test_every_module_says_what_it_is_and_exports_what_it_has():
    assert len(MODULES) > 300
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        assert module.__doc__, module_name
        assert module.__doc__.splitlines()[0].endswith((".", ":", "?")), module_name
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), (module_name, name)


def test_importing_the_package_leaves_heavy_libraries_alone():
    heavy = (
        "numpy",
        "pandas",
        "matplotlib",
        "pyarrow",
        "numba",
        "duckdb",
        "sqlalchemy",
        "pydantic",
    )
    code = f"import sys, gamekeeper; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_names_what_is_on_top():
    page = Path(__file__).parents[2] / "docs/reference/api.md"
    on_top = re.search(r"^On top: (.*)\.$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert on_top
    named = re.findall(r"`(\w+)`", on_top[1])
    assert named == [name for name in gamekeeper.__all__ if name not in (*HOMES, "errors")]


def test_the_reference_has_every_home():
    page = (Path(__file__).parents[2] / "docs/reference/api.md").read_text(encoding="utf-8")
    homes = re.findall(r"^## `gk\.(\w+)`$", page, re.MULTILINE)
    assert sorted(homes) == sorted((*HOMES, "errors"))
    assert re.findall(r"^\| \[`gk\.(\w+)`\]", page, re.MULTILINE) == homes
    assert re.findall(r"^\.\. automodule:: gamekeeper\.(\w+)$", page, re.MULTILINE) == homes
