"""The example in every docstring runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from functools import cache

import pytest

import gamekeeper

MODULES = [
    "gamekeeper",
    *sorted(
        module.name
        for module in pkgutil.walk_packages(gamekeeper.__path__, "gamekeeper.")
        if not module.name.endswith("__main__")
    ),
]


@cache
def examples(module_name):
    module = importlib.import_module(module_name)
    return [test for test in doctest.DocTestFinder().find(module) if test.examples]


@pytest.mark.parametrize("module_name", [name for name in MODULES if examples(name)])
def test_examples_of(module_name):
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in examples(module_name):
        runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)


def test_the_core_functions_have_examples():
    documented = {test.name.rpartition(".")[2] for name in MODULES for test in examples(name)}
    assert {"map_key_variables", "categorize", "harmonize", "join", "Environment"} <= documented
