from __future__ import annotations

import json
import subprocess
import sys

import pytest

import gamekeeper as gk


def test_demo_tells_the_story_and_writes_what_it_names(run, tmp_path):
    told = run("demo", "--output", tmp_path / "out")
    assert told.exit_code == 0
    assert told.err == ""
    report = tmp_path / "out" / "report.html"
    assert f"HTML report of stage one: {report}" in told.out
    assert "<html" in report.read_text(encoding="utf-8")
    risk = tmp_path / "out" / "risk.html"
    assert f"HTML report of stage two: {risk}" in told.out
    assert "What a match would cost" in risk.read_text(encoding="utf-8")
    assert "6. Stage two" in told.out
    assert "unique by Age" in told.out
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
