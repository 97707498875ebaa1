from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import gamekeeper

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(gamekeeper.__path__, "gamekeeper.")
    if not module.name.endswith("__main__")
)


def test_the_public_names_are_sorted_and_all_there_is():
    names = gamekeeper.__all__
    assert list(names) == sorted(names)
    visible = {name for name in dir(gamekeeper) if not name.startswith("_")}
    assert visible == set(names)


@pytest.mark.parametrize("name", gamekeeper.__all__)
def test_a_public_name_is_documented(name):
    value = getattr(gamekeeper, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert value.__module__.startswith("gamekeeper.")
        assert inspect.getdoc(value)
        assert value.__name__ == name


@pytest.mark.parametrize("module_name", MODULES)
def test_a_module_says_what_it_is_and_exports_what_it_has(module_name):
    module = importlib.import_module(module_name)
    assert module.__doc__
    assert module.__doc__.splitlines()[0].endswith((".", ":", "?"))
    for name in getattr(module, "__all__", ()):
        assert hasattr(module, name), name


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
