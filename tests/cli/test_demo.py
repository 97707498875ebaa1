from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.given.cases import only_thoroughly


@only_thoroughly
@pytest.mark.slow
def test_one_seed_gives_one_demo(run, tmp_path):
    runs = [
        json.loads(run("demo", "-o", tmp_path / name, "--seed", seed, "--format", "json").out)
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    ]
    first, second, other = (document["rows"] for document in runs)
    assert first == second
    assert first != other


def test_the_command_is_there_without_the_demo():
    code = (
        "import sys, gamekeeper.cli.demo;"
        "print([name for name in sys.modules if name.startswith('gamekeeper.workbench.demo')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_a_cancelled_demo_says_what_it_left(run, tmp_path, monkeypatch):
    from gamekeeper.errors import Cancelled
    from gamekeeper.workbench.demo import walk

    def stopped(*_, **__):
        raise Cancelled("Making up a country.")

    monkeypatch.setattr(walk, "import_folder", stopped)
    told = run("demo", "--output", tmp_path / "demo")
    assert told.exit_code == 130
    assert f"left in {tmp_path / 'demo'}" in told.err.replace("\n", "")
    assert (tmp_path / "demo" / "environment").is_dir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    told = run("demo", "--output", tmp_path / "other")
    assert (told.exit_code, [path.name for path in (tmp_path / "other").iterdir()]) == (
        2,
        ["mine.txt"],
    )
