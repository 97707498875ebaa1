"""`--no-records`: no value of a file, no label of a cell and no number of a record comes out.

Values and categories have a canary in their names. It must be there without the option, so that the
test would see it, and be nowhere with it: not on the terminal, in JSON, in CSV, nor in a report.
"""

from __future__ import annotations

import json
import re
import sys

import pytest

from gamekeeper.cli.app import load, main
from gamekeeper.errors import InputError

CANARY = "CANARY"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiet")
    lines = ["age,sex,place,w,home,id"]
    for number in range(24):
        age, sex = f"{CANARY} {number % 5}", "fm"[number % 2]
        place = "North" if number % 7 else f"{CANARY} bay"
        lines.append(f"{age},{sex},{place},{1 + number % 3},{number // 2},r{number}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "numbers.csv").write_text(
        "a,b,c,id\n" + "".join(f"{n},{n * n % 7},{n % 3},{CANARY}{n}\n" for n in range(12))
    )
    counts = f"Age,Work,n\n{CANARY} y,a,1\n{CANARY} y,b,0\no,a,2\no,b,4\nTotal,a,3\nTotal,b,4\n"
    (folder / "counts.csv").write_text(counts)
    (folder / "truth.csv").write_text("\n".join(counts.splitlines()[:5]) + "\n")
    return folder


KEYS = ("{place}/people.csv", "-k", "age,sex,place")
COUNTS = ("{place}/counts.csv",)
COMMANDS = {
    "look": ("look", "{place}/people.csv"),
    "assess": ("assess", *KEYS, "--fraction", "10%"),
    "risk keys": ("risk", "keys", *KEYS),
    "risk measures": ("risk", "measures", *KEYS, "--weight", "w", "--household", "home"),
    "risk dis": ("risk", "dis", *KEYS, "--fraction", "10%"),
    "risk match": ("risk", "match", *KEYS, "--fraction", "10%"),
    "risk suda": ("risk", "suda", *KEYS, "--fraction", "10%"),
    "risk special": ("risk", "special", *KEYS, "--fraction", "10%"),
    "risk model": ("risk", "model", *KEYS, "--method", "annealing"),
    "risk infer": ("risk", "infer", *KEYS, "--fraction", "10%", "--method", "annealing"),
    "risk compare": (
        "risk", "compare", *KEYS, "--fraction", "1/2", "--measure", "suda", "--workers", "1",
    ),
    "risk simulate": ("risk", "simulate", *KEYS, "--fraction", "1/2", "--workers", "1"),
    "link files": ("link", "files", "{place}/people.csv", "{place}/people.csv", "--id", "id"),
    "link evaluate": ("link", "evaluate", "{place}/people.csv", "{place}/people.csv", "--id", "id"),
    "link structure": (
        "link", "structure", "{place}/numbers.csv", "{place}/numbers.csv", "--columns", "a,b,c",
        "--others", "a,b,c", "--id", "id",
    ),
    "tables release": ("tables", "release", *KEYS, "-o", "{place}/new.json", "--replace"),
    "tables audit": ("tables", "audit", *COUNTS),
    "tables bounds": ("tables", "bounds", *COUNTS),
    "tables mark": ("tables", "mark", "{place}/people.csv", "--axes", "age,sex", "--value", "w"),
    "tables feasible": ("tables", "feasible", *COUNTS),
    "tables infer": ("tables", "infer", *COUNTS),
    "tables sap": ("tables", "sap", *COUNTS, "--truth", "{place}/truth.csv", "--at", "2"),
}  # fmt: skip
# Besides these, what is printed has no records in the first place.
LOUD = {
    "assess", "risk suda", "risk keys", "risk infer", "risk special", "link files",
    "link structure", "tables bounds", "tables feasible", "tables infer", "tables sap",
}  # fmt: skip
WITH_REPORT = (
    "assess", "risk suda", "risk keys", "risk special", "risk match", "risk infer", "risk compare",
    "tables bounds", "tables infer", "tables sap",
)  # fmt: skip


def run(monkeypatch, capsys, place, *arguments):
    made = [str(argument).replace("{place}", str(place)) for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["gamekeeper", *made])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr()
    return stop.value.code or 0, said.out, said.err


def test_every_command_on_data_has_the_option_and_is_tried():
    alone = {name: load(name) for name in ("assess", "look")}
    found = {n for n, one in alone.items() if any("--no-records" in p.opts for p in one.params)}
    for group in ("risk", "link", "tables"):
        for name, one in load(group).commands.items():
            if any("--no-records" in item.opts for item in one.params):
                found.add(f"{group} {name}")
    assert found == set(COMMANDS)


@pytest.mark.parametrize("how", ["table", "json", "csv"])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_of_a_record_comes_out(monkeypatch, capsys, place, name, how):
    options = () if how == "table" else ("--format", how)
    code, out, err = run(monkeypatch, capsys, place, *COMMANDS[name], *options, "--no-records")
    assert code == 0, err
    assert CANARY not in out + err
    if how == "json":
        document = json.loads(out)
        assert document["sentences"]
        assert not any("record" in row for row in document["rows"])
    if how == "table":
        assert out.strip()
        assert not re.search(r"^ *record\b", out, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(LOUD))
def test_without_it_the_canary_is_seen(monkeypatch, capsys, place, name):
    code, out, err = run(monkeypatch, capsys, place, *COMMANDS[name], "--format", "json")
    assert code == 0, err
    assert CANARY in out or '"record"' in out


@pytest.mark.parametrize("name", WITH_REPORT)
def test_reports_have_no_records_either(monkeypatch, capsys, place, tmp_path, name):
    page = tmp_path / "page.html"
    asked = (*COMMANDS[name], "--report", page, "--no-records")
    code, _, err = run(monkeypatch, capsys, place, *asked)
    assert code == 0, err
    assert CANARY not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "options",
    [("--explain", "1"), ("--records", "{place}/r.csv")],
)
def test_what_asks_for_records_is_refused_with_it(monkeypatch, capsys, place, options):
    code, _, err = run(monkeypatch, capsys, place, *COMMANDS["risk suda"], *options, "--no-records")
    assert code == InputError.exit_code
    assert options[0] in err


def test_values_of_a_first_look_are_refused(monkeypatch, capsys, place):
    asked = ("look", "{place}/people.csv", "--values")
    assert CANARY in run(monkeypatch, capsys, place, *asked)[1]
    code, out, err = run(monkeypatch, capsys, place, *asked, "--no-records")
    assert code == 2
    assert "--values" in err
    assert CANARY not in out + err


@pytest.mark.parametrize("command", ["audit", "bounds"])
def test_labels_that_could_be_sums_are_not_named(monkeypatch, capsys, tmp_path, command):
    rows = f"{CANARY} all,a,12\n{CANARY} one,a,\n{CANARY} two,a,8\n"
    table, page = tmp_path / "asked.csv", tmp_path / "asked.html"
    table.write_text(f"Area,Work,n\n{rows}")
    asked = ("tables", command, table, "--report", page, "--replace")
    for options in ((), ("--format", "json")):
        code, out, err = run(monkeypatch, capsys, tmp_path, *asked, *options, "--no-records")
        assert code == 0, err
        assert "not known" in out
        assert CANARY not in out + err
        assert CANARY not in page.read_text(encoding="utf-8")
        code, out, err = run(monkeypatch, capsys, tmp_path, *asked, *options)
        assert CANARY in out
