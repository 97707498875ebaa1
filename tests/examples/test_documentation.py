"""Every example in the documentation runs and prints what the page says."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from pathlib import Path
from typing import Any

import pytest

import gamekeeper as gk
from gamekeeper.cli.app import PARTS, load
from gamekeeper.errors import Reason
from gamekeeper.mapping.forms.groups import parse_query

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path):
    outcome = doctest.testfile(str(page), module_relative=False)
    assert outcome.failed == 0


def test_readme_example():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL).groups()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == printed


def test_every_reason_code_is_explained():
    text = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    errors = text.split("## Errors\n")[1]
    assert re.findall(r"^\| `([a-z-]+)` \|", errors, re.MULTILINE) == sorted(Reason)


def test_every_command_is_listed():
    text = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `gamekeeper ([a-z -]+?)(?: [A-Z=.`].*)?`? \|", text, re.MULTILINE)
    known: list[str] = []
    for name in PARTS:
        parts = getattr(load(name), "commands", None)
        known += [f"{name} {part}" for part in parts] if parts else [name]
    assert sorted(listed) == sorted(known)


def test_readme_shows_exactly_two_commands_first():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"```sh\n(.*?)```", text, re.DOTALL).group(1)
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]


def test_links_lead_somewhere():
    for page in [*PAGES, *ROOT.glob("*.md"), *(ROOT / "src").rglob("DECISIONS.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link, place in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text):
            goal = page.parent / link if link else page
            assert goal.exists(), f"{page.name}: {link}"
            assert not place or place in headings(goal), f"{page.name}: {link}#{place}"


def headings(page: Path) -> list[str]:
    """Return the headings of a page as links write them, on the site and on GitHub alike."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def test_pages_on_the_house_have_what_stands_beside_the_code():
    conf = (ROOT / "docs/conf.py").read_text(encoding="utf-8")
    known: dict[str, Any] = {"__file__": str(ROOT / "docs/conf.py")}
    exec(compile(conf, "conf.py", "exec"), known)
    for name, least in (("architecture", 5), ("decisions", 20)):
        page = ROOT / f"docs/explain/{name}.md"
        text = known["house_page"](page.read_text(encoding="utf-8"))
        assert ".md}" not in text
        assert len(re.findall(r"^## ", text, re.MULTILINE)) >= least
        # Nothing leads out of the site.
        for link in re.findall(r"\]\((?!http)([^)#]+)", text):
            goal = (page.parent / link).resolve()
            assert goal.exists(), link
            assert goal.is_relative_to(ROOT / "docs"), link


def test_every_page_is_behind_its_door():
    text = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    doors = dict(
        re.findall(r"```{toctree}\n:caption: ([^\n]*)\n:maxdepth: 1\n\n(.*?)```", text, re.S)
    )
    folders = {"Tutorials": "tutorial", "How to": "how-to", "Explained": "explain"}
    for door, folder in {**folders, "Reference": "reference"}.items():
        pages = [f"{page.parent.name}/{page.stem}" for page in PAGES if page.parent.name == folder]
        assert sorted(doors.pop(door).split()) == pages
    assert not doors


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs/tutorial").glob("*.md")), ids=lambda page: page.stem
)
def test_a_tutorial_has_an_answer_within_ten_commands(page: Path):
    commands = re.findall(r"^\$ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    answers = r"gamekeeper (assess|map|risk|tables (bounds|infer|sap)|link|protect (try|audit)) "
    if page.stem == "workbench-by-mouse":  # one command; what follows is pointed at
        assert "```sh\nmake serve\n```" in page.read_text(encoding="utf-8")
        return
    assert any(re.match(answers, command) for command in commands[:10])


def test_queries_can_be_read():
    text = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    (examples,) = re.findall(r"## Queries\n.*?```\n(.*?)```", text, re.DOTALL)
    for line in examples.splitlines():
        parse_query(line)


def test_the_folder_page_shows_a_folder_that_opens(tmp_path: Path):
    text = (ROOT / "docs/reference/environment-folder.md").read_text(encoding="utf-8")
    head, residence, age, form, worded, *groups = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    for name in ("variables", "forms", "groups"):
        (tmp_path / name).mkdir()
    for place, content in {
        "environment.json": head,
        "variables/residence.json": residence,
        "variables/age.json": age,
        "forms/bank.json": form,
        "forms/library.json": worded,
        **{f"groups/{number}.json": group for number, group in enumerate(groups)},
    }.items():
        (tmp_path / place).write_text(content, encoding="utf-8")
    environment = gk.read_environment(tmp_path)
    assert environment.code_of("Bank account", "Age") == "C4.001"
    assert environment.code_of("Library card", "Age") == "C4.001"
    assert environment.register("Place of residence").code(gk.mapping.ARBITRARY) == "C0.001"
    assert {name: environment.group(name).forms for name in environment.groups} == {
        "Commercial": ("Bank account",),
        "Recent": ("Bank account", "Library card"),
        "Recent, not commercial": ("Library card",),
    }
    assert gk.mapping.check_environment(environment).is_consistent
