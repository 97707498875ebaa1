from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gamekeeper as gk


def test_demo_tells_the_story_and_writes_what_it_names(run, tmp_path):
    told = run("demo", "--output", tmp_path / "out")
    assert told.exit_code == 0
    assert told.err == ""
    lines = told.out.splitlines()
    assert lines[0].startswith("May this file be released?")
    assert lines[2].startswith("The file does not meet the policy 'hdx'")
    # Shorter than a page and a half; three things to open at its end.
    assert len(lines) < 60
    assert lines[-4] == "Three things to open:"
    for line in lines[-3:]:
        page = Path(line.removeprefix("- ").partition(": ")[0])
        assert "<html" in page.read_text(encoding="utf-8")
    risk = (tmp_path / "out" / "risk.html").read_text(encoding="utf-8")
    assert lines[2].replace("'", "&#39;") in risk
    assert "What a match would cost" in risk
    # The finding that the README tells is that of this demo.
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    finding, truth = re.search(r"\*an intruder (.*?)\*.*? is known: ([\d,]+)\.", readme).groups()
    assert finding in told.out
    assert f"in truth {truth} of" in told.out
    assert (tmp_path / "out" / "harmonization-graph.svg").exists()
    pages = sorted((tmp_path / "out").glob("*.html"))
    assert [page.name for page in pages] == ["report.html", "risk.html", "tables.html"]
    for page in pages:
        # The pages may load nothing, so an embedded picture would be shown as broken.
        assert "<image" not in page.read_text(encoding="utf-8")
    assert len(gk.read_environment(tmp_path / "out" / "environment").forms) > 60


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
