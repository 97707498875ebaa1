"""Every command in the documentation runs in the order of its page, and prints what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.console import has_commands, run_page

ROOT = Path(__file__).parents[2]
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if has_commands(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
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
