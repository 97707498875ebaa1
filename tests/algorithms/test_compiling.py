from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config

from gamekeeper.algorithms import compiling
from gamekeeper.algorithms.compiling import compiled_from, count_bits, lowest_bit, met_subsets
from gamekeeper.algorithms.models import kernels, walk_kernels

words = st.integers(0, 2**64 - 1)
sparse = st.sets(st.integers(0, 63), max_size=6).map(lambda bits: sum(1 << bit for bit in bits))


@numba.njit
def met(masks):
    return met_subsets(masks[0], masks[1], masks[2], masks[3], masks[4], masks[5], masks[6])


@numba.njit
def counted(word):
    return count_bits(word), lowest_bit(word)


@given(st.lists(words | sparse, min_size=7, max_size=7))
@example([2**64 - 1] * 7)
@example([0] * 7)
@settings(deadline=None)
def test_sets_that_meet_are_found_at_once(masks):
    expected = 0
    for chosen in range(64):
        common = masks[0]
        for bit in range(6):
            if chosen >> bit & 1:
                common &= masks[1 + bit]
        expected |= (common != 0) << chosen
    assert int(met(np.array(masks, dtype=np.uint64))) == expected


@given(words.filter(bool))
@settings(deadline=None)
def test_bits_are_counted_and_the_lowest_is_found(word):
    n_bits, lowest = counted(np.uint64(word))
    assert int(n_bits) == word.bit_count()
    assert int(lowest) == (word & -word).bit_length() - 1


FILES = {
    "__init__.py": "",
    "constants.py": "STEP = 1\n",
    "deep.py": """
        import numba

        @numba.njit
        def more(x):
            return x + 10
        """,
    "helper.py": """
        import numba
        from tried.constants import STEP
        from tried.deep import more

        @numba.njit(inline="always")
        def added(x):
            return more(x) + STEP
        """,
    "caller.py": """
        import numba
        from gamekeeper.algorithms.compiling import kept_on_disk
        from tried.helper import added

        @kept_on_disk
        @numba.njit
        def called(x):
            return added(x)
        """,
}


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "tried"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(textwrap.dedent(text))
    return folder


def run_elsewhere(package):
    """Call the kernel in a process of its own; return what it gave, and whether it was on disk."""
    program = (
        "from tried.caller import called;print(called(1), sum(called.stats.cache_hits.values()))"
    )
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": f"{package.parent}{os.pathsep}{source}"}
    environment.pop("NUMBA_CACHE_DIR", None)
    # Bytecode left here would hide an edit of the same length within the same second.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return tuple(int(word) for word in done.stdout.split())


@pytest.fixture
def run(package, monkeypatch):
    """Import the package anew, as a new process would, which takes a second to load numba."""
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(compiling, "_file_of", compiling._file_of.__wrapped__)
    # Edits within a second of each other are not seen by the time of the file.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def call():
        for name in [name for name in sys.modules if name.partition(".")[0] == "tried"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        called = importlib.import_module("tried.caller").called
        return called(1), sum(called.stats.cache_hits.values())

    yield call
    for name in [name for name in sys.modules if name.partition(".")[0] == "tried"]:
        del sys.modules[name]


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_what_it_calls_has_changed(package, run):
    assert run_elsewhere(package) == (12, 0)
    assert run() == (12, 1)
    # A helper's helper, the helper, and a constant of a third file.
    edits = [
        ("deep.py", "10", "20", 22),
        ("helper.py", "+ S", "- S", 20),
        ("constants.py", "1", "5", 16),
    ]
    for file, old, new, result in edits:
        changed = package / file
        changed.write_text(changed.read_text().replace(old, new))
        assert run() == (result, 0)
        assert run() == (result, 1)


def test_where_the_package_cannot_be_written_to_the_users_cache_folder_serves(
    package, run, tmp_path, monkeypatch
):
    # A file in the place of the folder stops everybody, also those who may write anywhere.
    (package / "__pycache__").write_text("")
    own = tmp_path / "own"
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    assert run() == (12, 0)
    assert [path.suffix for path in sorted(own.rglob("*.nb?"))] == [".nbc", ".nbi"]
    assert run() == (12, 1)
    # What has changed is seen there as well.
    changed = package / "deep.py"
    changed.write_text(changed.read_text().replace("10", "20"))
    assert run() == (22, 0)


def test_a_kernel_knows_the_files_of_all_its_helpers():
    files = dict(compiled_from(walk_kernels.walk_graphs.py_func))
    for module in (walk_kernels, kernels):
        assert len(files[module.__name__]) == 64
    assert files["gamekeeper.algorithms.models.walk_kernels._LEAF"] == "4"
    assert "gamekeeper.algorithms.compiling" in files
