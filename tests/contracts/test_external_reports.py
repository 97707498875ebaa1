"""Pages for people outside: what was done, and nothing that the data holder keeps.

By the handbook of the European Statistical System what was changed in the data may be told, and
how large the risk is may not. Risks, parameters, seeds, fingerprints and records are numbers:
besides how many categories a variable had and has, a page may have none. Categories have a canary.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import pytest

import gamekeeper as gk
from gamekeeper.cli.app import main
from gamekeeper.results import package_version

CANARY = "CANARY"
KEYS = ("{place}/people.csv", "-k", "age,sex,place", "-f", "10%")
RULES = ("--recode", f"place=coast: {CANARY} bay | {CANARY} cliff", "--recode", "age=top 33")
QUICK = ("--method", "annealing", "--chains", "1")
COMMANDS = {
    "assess": ("assess", *KEYS, "--policy", "hdx", *QUICK[:2], "--seed", "77", "--id", "id"),
    "keys": ("risk", "keys", *KEYS, "--sensitive", "id"),
    "suda": ("risk", "suda", *KEYS, "--id", "id", "--population", "{place}/people.csv"),
    "special": ("risk", "special", *KEYS, "--seed", "77", "--rounds", "2"),
    "match": ("risk", "match", *KEYS, "--r", "3"),
    "infer": ("risk", "infer", *KEYS, *QUICK, "--seed", "77", "--categories", "place"),
}
METHODS = {
    "assess": "sample uniques",
    "keys": "key table",
    "suda": "sample uniques",
    "special": "special uniques",
    "match": "matching strategies",
    "infer": "bayesian inference",
}


class Text(HTMLParser):
    """The text of a page and the values of its attributes, without style and script."""

    def __init__(self):
        super().__init__()
        self.parts = []
        self.hidden = False

    def handle_starttag(self, tag, attrs):
        self.hidden = tag in ("style", "script")
        if tag == "td":
            self.parts += [value for _, value in attrs if value]

    def handle_endtag(self, _):
        self.hidden = False

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    lines = ["id,age,sex,place"]
    for n in range(60):
        where = (f"{CANARY} bay", f"{CANARY} cliff", "north", "south")[n * n % 7 % 4]
        lines.append(f"{CANARY}{n},{30 + n % 5},{'fm'[n % 2]},{where}")
    lines.append(f"{CANARY}x,34,f,{CANARY} isle")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    return folder


def page_of(monkeypatch, capsys, place, page, *arguments):
    made = [str(argument).replace("{place}", str(place)) for argument in arguments]
    whole = ["gamekeeper", *made, "--report", str(page)]
    monkeypatch.setattr(sys, "argv", whole)
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr()
    assert (stop.value.code or 0) in (0, 4), said.err
    html = page.read_text(encoding="utf-8")
    reader = Text()
    reader.feed(html)
    return html, " ".join(" ".join(reader.parts).split())


@pytest.mark.parametrize("name", COMMANDS)
def test_an_external_page_has_no_risks_parameters_records_or_categories(
    monkeypatch, capsys, place, tmp_path, name
):
    asked = (*COMMANDS[name], *RULES, "--report-for", "external")
    html, text = page_of(monkeypatch, capsys, place, tmp_path / "page.html", *asked)
    assert CANARY not in html
    assert str(place) not in html
    assert str(tmp_path) not in html
    told = re.sub(r"engine \w+ [\d.]+", "", text.replace(package_version(), ""))
    assert re.findall(r"\d[\d.,]*\d|\d", told) == ["4", "3", "5", "4"]
    assert "'place': 4 categories become 3." in text
    assert "'age': 5 categories become 4." in text
    assert METHODS[name] in text.lower()
    assert "<svg" not in html
    assert "<table" not in html
    for word in ("seed", "fraction", "fingerprint", "policy", "coast", "top"):
        assert word not in text.lower().split(), word


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_an_internal_page_has_them(monkeypatch, capsys, place, tmp_path, name):
    _, text = page_of(monkeypatch, capsys, place, tmp_path / "page.html", *COMMANDS[name], *RULES)
    assert f"(coast: {CANARY} bay | {CANARY} cliff)" in text
    assert "Before and after recoding" in text
    assert "Sampling fraction" in text
    if name in ("assess", "special", "infer"):
        assert "77" in text


def test_python_writes_the_same_external_page(monkeypatch, capsys, place, tmp_path):
    asked = (*COMMANDS["assess"], *RULES, "--report-for", "external")
    by_command, _ = page_of(monkeypatch, capsys, place, tmp_path / "page.html", *asked)
    found = gk.assess(
        place / "people.csv",
        keys=["age", "sex", "place"],
        fraction="10%",
        policy="hdx",
        recodes=RULES[1::2],
        method="annealing",
        seed=77,
    )
    found.report(tmp_path / "python.html", audience="external")
    assert (tmp_path / "python.html").read_text(encoding="utf-8") == by_command
