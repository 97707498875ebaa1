"""Every command in the documentation runs in the order of its page, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gamekeeper as gk
from tests.examples.console import has_commands, of_demo, run_page

ROOT = Path(__file__).parents[2]
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if has_commands(page)]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            # The demo takes as long as all other commands together.
            marks=[pytest.mark.slow] if "$ gamekeeper demo" in page.read_text("utf-8") else [],
        )
        for page in PAGES
    ],
)
def test_commands(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    # A page sets it; this puts back what was there.
    monkeypatch.setenv("GAMEKEEPER_WHO", "reader")
    steps = list(run_page(page, Path.cwd()))
    assert steps
    for step in steps:
        assert step.is_as_said, f"{step.command}{step.printed}instead of\n{step.said}"
        assert "fault of ours" not in step.printed, step.command


def test_the_tutorial_is_among_them():
    assert ROOT / "docs/tutorial/first-environment.md" in PAGES


@pytest.mark.slow
def test_the_demo_tells_the_story_and_writes_what_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = of_demo()
    lines = told.splitlines()
    assert lines[0].startswith("May this file be released?")
    assert lines[2].startswith("The file does not meet the policy 'hdx'")
    # About a page and a half, protection included; three things to open at its end.
    assert len(lines) < 74
    assert lines[-4] == "Three things to open:"
    for line in lines[-3:]:
        page = Path(line.removeprefix("- ").partition(": ")[0])
        assert "<html" in page.read_text(encoding="utf-8")
    risk = (tmp_path / "demo-output" / "risk.html").read_text(encoding="utf-8")
    assert lines[2].replace("'", "&#39;") in risk
    assert "What a match would cost" in risk
    # The finding that the README tells is that of this demo.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    finding, truth = re.search(r"\*an intruder (.*?)\*.*? is known: ([\d,]+)\.", readme).groups()
    assert finding in told
    assert f"in truth {truth} of" in told
    assert (tmp_path / "demo-output" / "harmonization-graph.svg").exists()
    pages = sorted((tmp_path / "demo-output").glob("*.html"))
    named = ["protection.html", "report.html", "risk.html", "tables.html"]
    assert [page.name for page in pages] == named
    # The file that was protected and attacked again, and the map of what was tried.
    for name in ("released-sample.csv", "risk-utility-map.svg"):
        assert name in told
        assert (tmp_path / "demo-output" / name).is_file()
    for page in pages:
        # The pages may load nothing, so an embedded picture would be shown as broken.
        assert "<image" not in page.read_text(encoding="utf-8")
    assert len(gk.read_environment(tmp_path / "demo-output" / "environment").forms) > 60
