from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.algorithms.uniques.scores import size_weights, weigh
from tests.reference.data_files import DATA, GOLDEN
from tests.reference.run import main, run_file
from tests.reference.uniques import coded

Capture = pytest.CaptureFixture[str]
LARGE = GOLDEN / "uniques_large.json"
with_data = pytest.mark.skipif(DATA not in os.environ, reason=f"{DATA} names no folder of data")

ADULT = {
    "id": "adult",
    "source": "ARX, data/adult.csv: 30,162 records, 9 variables",
    "input": {
        "sha256": "c700df9304fbf3c4d4db5938bffc510561bd4a2dfad285a3feef9a20619391c5",
        "columns": [
            *("sex", "age", "race", "marital-status", "education"),
            *("native-country", "workclass", "occupation", "salary-class"),
        ],
    },
    "expected": {
        "n1": 15512,
        "n2": 2098,
        "distinct": 19502,
        "sample_uniques": 15512,
        "msu_count_by_size": {
            "1": 2,
            "2": 1204,
            "3": 14890,
            "4": 26029,
            "5": 15983,
            "6": 4172,
            "7": 498,
            "8": 31,
        },
        "file_level_is": 20402731,
        "top3_records_by_is": [
            {"record": 18175, "is": 40326, "msu_count_by_size": {"1": 1, "6": 1}},
            {"record": 22267, "is": 40320, "msu_count_by_size": {"1": 1}},
            {"record": 21217, "is": 25200, "msu_count_by_size": {"2": 5}},
        ],
        "dis_pi_0.01": {"exact": "3878/107729"},
    },
}


def write(folder: Path, case: Any, kind: str = "uniques_large") -> Path:
    path = folder / "cases.json"
    path.write_text(json.dumps({"kind": kind, "cases": [case]}))
    return path


def own_case() -> Any:
    return json.loads(LARGE.read_text())["cases"][0]


def test_a_case_whose_data_are_not_here_is_not_counted(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATA, raising=False)
    case = own_case()
    case["input"]["sha256"] = "0" * 64
    outcome = run_file(write(tmp_path, case))
    assert (outcome.n_run, outcome.n_passed, outcome.is_failed) == (0, 0, False)
    assert main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "not run: its file of data is needed, and GAMEKEEPER_DATA names no folder" in said
    assert "0 of 0 cases passed in 1 files; 0 files not yet supported; 1 cases not run." in said
    monkeypatch.setenv(DATA, str(tmp_path))
    assert main([str(tmp_path)]) == 0
    assert "it is not in the folder that GAMEKEEPER_DATA names" in capsys.readouterr().out


@pytest.mark.parametrize(
    "written",
    [
        lambda text: text,
        lambda text: text.replace(",", ";"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(",", ";").replace("\n", "\r\n"),
    ],
)
def test_a_file_is_known_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Callable[[str], str]
) -> None:
    # Another file than ours, so that it is found in the folder of data.
    (tmp_path / "other").mkdir()
    text = (GOLDEN / "uniques_large.csv").read_text() + "r99,a99,s99,t99,w99\n"
    (tmp_path / "other" / "file.csv").write_bytes(written(text).encode())
    case = own_case()
    plain = text.replace(",", ";").replace("\n", "\r\n")
    case["input"]["sha256"] = hashlib.sha256(plain.encode()).hexdigest()
    case["expected"] = {"distinct": case["expected"]["distinct"] + 1}
    monkeypatch.setenv(DATA, str(tmp_path))
    outcome = run_file(write(tmp_path, case))
    assert (outcome.n_passed, outcome.n_run) == (1, 1)


@pytest.mark.parametrize(
    "file", ["other.csv", "folder/other.csv", "other.csv from the folder of somebody", "gone.csv"]
)
def test_without_a_fingerprint_the_name_decides_and_then_the_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    # More columns than the case is about, except where only the columns find the file.
    (tmp_path / "folder").mkdir()
    lines = [["id", "eyes", "hair"], ["1", "blue", "red"], ["2", "blue", "red"], ["3", "b", "r"]]
    width = slice(1 if file == "gone.csv" else 0, None)
    text = "".join(",".join(line[width]) + "\n" for line in lines)
    (tmp_path / "folder" / "other.csv").write_text(text)
    monkeypatch.setenv(DATA, str(tmp_path))
    case: dict[str, Any] = {
        "input": {"file": file, "columns": ["eyes", "hair"]},
        "expected": {"n1": 1, "n2": 1, "distinct": 2},
    }
    outcome = run_file(write(tmp_path, case))
    assert (outcome.n_passed, outcome.n_run) == (1, 1)
    case["expected"]["distinct"] = 3
    assert run_file(write(tmp_path, case)).is_failed


def test_without_a_fingerprint_a_file_that_is_not_here_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATA, raising=False)
    case: dict[str, Any] = {
        "input": {"file": "gone.csv", "columns": ["eyes"]},
        "expected": {"n1": 1},
    }
    outcome = run_file(write(tmp_path, case))
    assert (outcome.n_run, outcome.is_failed) == (0, False)
    # Two files with these columns: neither is the one that is meant.
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("eyes\nblue\n")
    monkeypatch.setenv(DATA, str(tmp_path))
    assert run_file(write(tmp_path, case)).n_run == 0
    case["input"] = {"columns": ["eyes"]}
    assert "no 'file'" in run_file(write(tmp_path, case)).cases[0].faults[0]


def test_a_file_without_the_columns_is_a_fault_of_the_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.csv").write_text("eyes\nblue\n")
    monkeypatch.setenv(DATA, str(tmp_path))
    case = {"input": {"file": "one.csv", "columns": ["eyes", "hair"]}, "expected": {"n1": 1}}
    assert "not all in the file" in run_file(write(tmp_path, case)).cases[0].faults[0]


def test_missing_cells_may_be_read_in_another_way_and_sizes_be_capped(tmp_path: Path) -> None:
    rows = [[1, 1, 1], [1, 2, 2], [2, 1, 1], [None, 2, 1]]
    whole = {
        "sample_uniques": [0, 1, 2, 3],
        "msus": [[[0, 1]], [[2]], [[0, 1]], [[1, 2]]],
        "is": [1, 2, 1, 1],
        "suda2_tool_score": [1, 2, 1, 1],
        "category_level": [{"1": 1, "2": 1}, {"1": 2, "2": 1}, {"1": 1, "2": 2}],
    }
    capped = {
        "sample_uniques": [0, 1, 2, 3],
        "msus": [[], [[2]], [], []],
        "is": [0, 2, 0, 0],
        "suda2_tool_score": [0, 1, 0, 0],
        "category_level": [{"1": 0, "2": 0}, {"1": 0, "2": 0}, {"1": 0, "2": 2}],
    }
    for cap, expected in ((2, whole), (1, capped)):
        given = {"rows": rows, "missing": "wildcard", "max_size": cap}
        outcome = run_file(write(tmp_path, {"input": given, "expected": expected}, "uniques"))
        assert outcome.cases[0].faults == ()
        assert outcome.cases[0].not_compared == ()


def test_a_power_of_dis_is_beyond_its_range_is_still_computed(tmp_path: Path) -> None:
    case = {"input": {"is": [3, 9], "dis": 0.4, "K": 28}, "expected": {"dis_is": [0.4, 0.4]}}
    assert not run_file(write(tmp_path, case, "dis_is")).is_failed


@pytest.mark.parametrize(
    ("exact", "is_failed"), [("3/2", False), ("6/4", False), ("15000000001/10000000000", True)]
)
def test_an_exact_fraction_must_be_found_exactly(
    tmp_path: Path, exact: str, is_failed: bool
) -> None:
    case = {"input": {"N": 3, "M": 2}, "expected": {"mean_with": {"exact": exact}}}
    assert run_file(write(tmp_path, case, "urn")).is_failed == is_failed


@with_data
def test_adult(tmp_path: Path) -> None:
    outcome = run_file(write(tmp_path, ADULT))
    assert [case.faults for case in outcome.cases] == [()]
    assert outcome.n_passed == 1


@with_data
def test_the_scores_of_the_reference_package() -> None:
    names = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
    (path,) = Path(os.environ[DATA]).glob("sdcmicro/testdata.csv")
    with path.open(newline="") as file:
        rows: list[Sequence[str]] = [[row[n] for n in names] for row in csv.DictReader(file)]
    codes, _ = coded(rows)
    found = find_minimal_uniques(codes, listing=False)
    scores = weigh(found.counts, size_weights(len(names)))
    by_record = dict(zip((found.records + 1).tolist(), scores.tolist(), strict=True))
    assert (len(rows), found.n_uniques, found.n_msus) == (4580, 1693, 5391)
    assert [by_record[n] for n in (1036, 2845, 4472, 201)] == [41160, 40680, 40392, 40320]


def test_a_case_may_have_its_records_itself(tmp_path: Path) -> None:
    case = own_case()
    rows = [[0, "x"], [0, "x"], [1, None]]
    case["input"] = {"columns": ["eyes", "hair"], "rows": rows}
    case["expected"] = {"n1": 1, "n2": 1, "distinct": 2, "sample_uniques": 1}
    outcome = run_file(write(tmp_path, case))
    assert (outcome.n_passed, outcome.n_run) == (1, 1)
    case["expected"]["distinct"] = 3
    assert run_file(write(tmp_path, case)).is_failed
