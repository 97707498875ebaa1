"""Everything that was found, and some hundred seeded cases: none may be a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.case import Case
from tests.fuzz.cases import KINDS, case_of
from tests.fuzz.minimizing import minimized
from tests.fuzz.running import Outcome, run_case

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.json"))
# A seed and so many cases of it. Two parts of eight have cases of every kind; `make slow` runs the
# others, and `make fuzz` draws new ones.
SEED, N_CASES, N_PARTS = 20261117, 240, 8
QUICK_PARTS = (0, 7)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path):
    outcome = run_case(Case.from_json(path.read_text(encoding="utf-8")))
    assert outcome.fault == "", outcome.told


@pytest.mark.parametrize(
    "part",
    [pytest.param(n, marks=() if n in QUICK_PARTS else pytest.mark.slow) for n in range(N_PARTS)],
)
def test_seeded_cases_are_no_fault_of_ours(part):
    for number in range(part, N_CASES, N_PARTS):
        outcome = run_case(case_of(SEED, number))
        # Tests never judge time: make fuzz does.
        assert outcome.fault in ("", "slow"), f"case {number}: {outcome.fault}\n{outcome.told}"


def test_quick_parts_have_cases_of_every_kind():
    numbers = [n for n in range(N_CASES) if n % N_PARTS in QUICK_PARTS]
    assert len({case_of(SEED, n).kind.split("-")[0] for n in numbers}) == len(KINDS)


def test_a_case_is_the_same_for_its_seed_and_number():
    assert [case_of(3, n) for n in range(9)] == [case_of(3, n) for n in range(9)]
    assert case_of(3, 1) != case_of(4, 1)
    kinds = {case_of(3, number).kind.split("-")[0] for number in range(240)}
    assert len(kinds) == len(KINDS)


def test_a_case_is_written_and_read():
    for number in range(40):
        case = case_of(5, number)
        assert Case.from_json(case.to_json()) == case


def test_a_fault_is_seen_and_made_smaller(monkeypatch):
    rows = b"a,b\n" + b"1,2\n" * 9 + b"boom,1\n" + b"3,4\n" * 9
    arguments = ("risk", "keys", "{place}/d.csv", "--keys", "a,b", "--missing", "ignore")
    case = Case("risk", arguments, {"d.csv": rows})

    def breaks(self, **_):
        raise ZeroDivisionError("boom")

    assert run_case(case).fault == ""
    monkeypatch.setattr("gamekeeper.workbench.microdata.Microdata.count", breaks)
    outcome = run_case(case)
    assert outcome.fault.startswith("ZeroDivisionError in ")
    assert outcome.code == 1
    monkeypatch.setattr(
        "tests.fuzz.minimizing.run_case",
        lambda tried: Outcome(1, "x" if b"boom" in tried.files.get("d.csv", b"") else "", "", 0),
    )
    assert minimized(case, "x").files == {"d.csv": b"boom,1\n"}


def test_values_that_are_shown_are_a_fault(monkeypatch):
    from tests.fuzz.ingredients import CANARY

    case = Case(
        "risk", ("risk", "keys", "{place}/d.csv", "--keys", f"{CANARY}"), {"d.csv": b"a\n1\n"}
    )
    assert run_case(case).fault == "a value of a data file was shown"


def test_outputs_of_any_name_go_where_the_case_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ("risk", "keys", "{place}/d.csv", "--keys", "a", "--output", "0.csv")
    assert run_case(Case("risk", arguments, {"d.csv": b"a\n1\n"})).code == 0
    assert list(tmp_path.iterdir()) == []
