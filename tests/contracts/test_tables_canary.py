"""Whatever goes wrong with released tables, no true count and no value of microdata may come out.

A true count that no scheme publishes is planted in a release and in files of true counts, and words
in every column of a file of microdata. Labels and counts that are published may be shown.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import gamekeeper as gk
from gamekeeper.algorithms.subtraction.release import release_parts, release_rule
from gamekeeper.data.tables.release_file import read_release_and_truth
from gamekeeper.errors import GamekeeperError
from gamekeeper.workbench.requests.tables import ReleaseRequest
from gamekeeper.workbench.table_files import open_release
from tests.given.canary import CANARY, command, everything_said, require_silence, said_of_a_fault
from tests.given.microdata import write

COUNT = 7_341_734
SIGNS = ("CANARY", str(COUNT), f"{COUNT:,}")
AXES = {"age": ["young", "old"], "work": ["yes", "no"]}
SCHEME = "conventional:1001"
TRUE = f"age,work,n\nyoung,yes,{COUNT}\nyoung,no,2\nold,yes,5\nold,no,0\n"


def is_silent(*texts: str) -> None:
    require_silence(SIGNS, texts)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    truth = gk.CountTable.typed(AXES, [[COUNT, 2], [5, 0]])
    release = gk.make_release(truth, [("age", "work"), ()], SCHEME)
    margins = gk.make_release(truth, [("age", "work"), ("age",), ("work",)], SCHEME)
    gk.data.write_release(margins, folder / "margins.json", truth)
    gk.data.write_release(release, folder / "release.json", truth)
    gk.data.write_release(release, folder / "without.json")
    text = (folder / "release.json").read_text(encoding="utf-8")
    true = f"[[{COUNT}, 2], [5, 0]]"
    assert true in text
    for name, changed in {
        "negative": f"[[-{COUNT}, 2], [5, 0]]",
        "fraction": f"[[{COUNT}.5, 2], [5, 0]]",
        "text": f'[["{COUNT}", 2], [5, 0]]',
        "shape": f"[[{COUNT}, 2, {COUNT}], [5, 0]]",
        "other": f"[[2, {COUNT}], [5, 0]]",
        "sparse": json.dumps({"cells": [0, 0], "counts": [COUNT, COUNT]}),
        "outside": json.dumps({"cells": [COUNT], "counts": [COUNT]}),
        "object": json.dumps({f"{CANARY}": COUNT}),
    }.items():
        write(folder, f"{name}.json", text.replace(true, changed))
    write(folder, "cut.json", text[: text.index(true) + 8])
    write(folder, "true.csv", TRUE)
    write(folder, "true-negative.csv", TRUE.replace(f"{COUNT}", f"-{COUNT}"))
    write(folder, "true-fraction.csv", TRUE.replace(f"{COUNT}", f"{COUNT}.5"))
    write(folder, "true-text.csv", TRUE.replace(f"{COUNT}", CANARY))
    write(folder, "true-twice.csv", TRUE + f"young,yes,{COUNT}\n")
    write(folder, "true-total.csv", TRUE + f"Total,Total,{COUNT}\n")
    write(folder, "true-moved.csv", TRUE.replace("young,yes", "old,no,").replace("no,,", "no,"))
    write(folder, "true-axes.csv", TRUE.replace("work", "job"))
    write(folder, "true-labels.csv", TRUE.replace("young", CANARY))
    write(folder, "true-ragged.csv", TRUE + f"{CANARY},{COUNT}\n")
    people = "".join(
        f"{CANARY} {row % 2},{CANARY} {row % 3},{COUNT + row % 2}\n" for row in range(7)
    )
    write(folder, "people.csv", "area,job,pay\n" + people)
    write(folder, "ragged.csv", "area,job,pay\n" + people + f"{CANARY}\n")
    write(folder, "control.csv", f"area,job,pay\n{CANARY}\x07,{CANARY},1\n{CANARY},x,{COUNT}\n")
    return folder


SAP = ("sap", "{place}/release.json")
BESIDE = ("sap", "{place}/without.json", "--truth")
PEOPLE = ("release", "{place}/people.csv", "-o", "{place}/made.json")
CASES: dict[str, tuple[str, ...]] = {
    **{
        f"release, {name}": ("sap", f"{{place}}/{name}.json")
        for name in ("negative", "fraction", "text", "shape", "other", "sparse", "outside",
                     "object", "cut")
    },
    **{
        f"truth, {name}": (*BESIDE, f"{{place}}/true-{name}.csv")
        for name in ("negative", "fraction", "text", "twice", "total", "moved", "axes", "labels",
                     "ragged")
    },
    "no truth": BESIDE[:-1],
    "truth that is no table": (*BESIDE, "{place}/release.json"),
    "method": (*SAP, "--method", "guess"),
    "numbers": (*SAP, "-n", "x"),
    "too many samples": ("sap", "{place}/margins.json", "--method", "exact", "--max-samples", "1"),
    "within": (*SAP, "--within", "aeg"),
    "within all": (*SAP, "--within", "age,work"),
    "within, anywhere": ("sap", "{place}/margins.json", "--within", "aeg", "--anywhere"),
    "too many numbers": (*SAP, "-n", "0-9000000"),
    "sap, output": (*SAP, "-o", "{place}/release.json"),
    "shuttle": ("bounds", "{place}/release.json", "--method", "shuttle", "--max-nodes", "1"),
    "closed": ("bounds", "{place}/release.json", "--method", "closed"),
    "keep": ("bounds", "{place}/release.json", "--keep", "x"),
    "about": ("infer", "{place}/release.json", "--about", "x"),
    "combinations": ("infer", "{place}/release.json", "--max-combinations", "1"),
    "prior": ("feasible", "{place}/release.json", "--prior", "x"),
    "keys": (*PEOPLE, "-k", "aera,job"),
    "no keys": PEOPLE,
    "margin": (*PEOPLE, "-k", "area,job", "--margin", "pay"),
    "schemes": (*PEOPLE, "-k", "area,job", "--scheme", "exact", "--scheme", "random:3"),
    "ties": (*PEOPLE, "-k", "area,job", "--scheme", "conventional:4"),
    "missing": (*PEOPLE, "-k", "area,job", "--missing", "ignore"),
    "ragged": ("release", "{place}/ragged.csv", "-k", "area,job", "-o", "{place}/made.json"),
    "control": ("release", "{place}/control.csv", "-k", "area,job", "-o", "{place}/made.json"),
    "unwritable": ("release", "{place}/people.csv", "-k", "area", "-o", "{place}/people.csv"),
}  # fmt: skip


def filled(options: tuple[str, ...], place: Path) -> list[str]:
    return [option.format(place=place) for option in options]


@pytest.mark.parametrize("case", CASES)
def test_errors_show_nothing(
    place: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(GamekeeperError) as caught:
        command("tables", *filled(CASES[case], place))
    is_silent(*everything_said(caught.value), caplog.text, *capsys.readouterr())


def test_a_conflict_shows_published_counts_and_no_true_one(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (place / "without.json").read_text(encoding="utf-8")
    file = tmp_path / "conflict.json"
    release = json.loads(text)
    release["published"][1]["counts"] = 1001
    file.write_text(json.dumps(release), encoding="utf-8")
    for name in ("bounds", "feasible", "infer"):
        with pytest.raises(GamekeeperError) as caught:
            command("tables", name, file)
        told = "\n".join(map(str, caught.value.problems))
        assert "total: published 1001" in told
        is_silent(*everything_said(caught.value), *capsys.readouterr())


PARTS = (
    "gamekeeper.workbench.table_files.read_release_and_truth",
    "gamekeeper.attack.tables.subtraction.subtract_known",
    "gamekeeper.attack.tables.subtraction.release_risk",
    "gamekeeper.attack.tables.feasible.infer_attributions",
    "gamekeeper.report.page.write_risk_report",
    "gamekeeper.report.tables.write_table",
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", [ValueError, OSError])
def test_a_fault_of_ours_shows_nothing(
    place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    kind: type[Exception],
) -> None:
    fault = kind(f"{CANARY} cannot be {COUNT}")
    page, table = tmp_path / "page.html", tmp_path / "table.csv"
    arguments = ("sap", place / "release.json", "-n", "0-2", "--report", page, "-o", table)
    is_silent(said_of_a_fault(monkeypatch, capsys, part, fault, "tables", *arguments))


def test_reprs_show_nothing(place: Path) -> None:
    release, truth = read_release_and_truth(place / "release.json")
    assert truth is not None
    sap = gk.subtract_known(release, truth, n=range(4))
    rounded = gk.make_release(truth, [("age", "work")], SCHEME)
    rule = release_rule(rounded.constraints, truth.dense().reshape(-1))
    assert rule is not None
    coded = gk.code_source(gk.open_source(place / "people.csv"), ["area", "job"])
    counted = gk.tabulate(coded, ["area", "job"])
    found = [
        release, *release.published, *release.axes, truth, sap, sap.risk, sap.detail, rule,
        *release_parts(release.constraints, truth.dense().reshape(-1)),
        gk.tables.subtract_within(release, truth, ["age"]), gk.bound_cells(release),
        gk.infer_attributions(release), counted, *counted.axes,
        gk.make_release(counted, [("area",)], "random:3"),
        gk.bound_cells(gk.make_release(counted, [("area",)])),
    ]  # fmt: skip
    is_silent(*map(repr, found))
    is_silent(*(thing._repr_html_() for thing in found if hasattr(thing, "_repr_html_")))
    opened = open_release(ReleaseRequest(files=(place / "without.json",), truth=place / "true.csv"))
    is_silent(repr(opened))


def test_counting_microdata_says_numbers_only(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "made.json"
    command("tables", "release", place / "people.csv", "-k", "area,job", "-o", file)
    is_silent(*capsys.readouterr())
    # The labels of a release are published, so here the search must find the canary.
    with pytest.raises(AssertionError):
        is_silent(file.read_text(encoding="utf-8"))
