from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from gamekeeper import EnvironmentStore
from tests.reference.run import KINDS, main, run_file

Capture = pytest.CaptureFixture[str]
GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.json"))

# Expected fields that other fields are written in terms of.
NAMES = ("nodes", "edges")
# What describes a case and is no result: a change of it is no fault.
DESCRIPTIONS = {
    "remainder_not_interval",
    "sinks_if_not_split",
    "float_trap",
    "N_from",
    "methods",
    "patterns_looked_at",
}
# The best of a longer list: with fewer of them a case claims less, and nothing wrong.
BEST_OF = {"top_models"}
# Kinds whose results are mostly floats: every one of them is changed a little.
OF_NUMBERS = ("extras", "match_probability", "models")
# Kinds whose expected fields are objects and single values.
WITHOUT_LISTS = {
    "keys_kvm_analysis",
    "keys_kvm_universe",
    "keys_kvm_target_in_environment",
    "dis",
    "matching",
    "protect_il1s",
    "protect_interval_overlap",
    "protect_scores_under_recoding",
    "protect_utility",
    "tables_protect_primary_rules",
}
# Kinds of figures on files that are not ours, and are not here.
ON_DATA_OF_OTHERS = {"protect_real_data"}


def stem(path: Path) -> str:
    return path.stem


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every plain value with the path to it."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            if key not in DESCRIPTIONS:
                yield from leaves(inner, (*path, key))
    else:
        yield path, value


def places_to_corrupt() -> Iterator[Any]:
    """Yield one case and place for every kind of value in every expected field of every file."""
    fields = {"N", "N_to", "n_categories", "partition", "letter", "code", "output", "candidates"}
    for path in FILES:
        seen: set[Any] = set()
        for number, case in enumerate(json.loads(path.read_text())["cases"]):
            for place, value in leaves(case["expected"]):
                named = next((key for key in reversed(place) if key in fields), "")
                pattern = (place[0], len(place), named, type(value))
                if value is not None and pattern not in seen:
                    seen.add(pattern)
                    yield pytest.param(path, number, place, id=f"{path.stem}-{place}")


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}?"


def with_only(path: Path, number: int, *, keep: Collection[str] | None = None) -> Any:
    """Return a file with one case, and of its expected fields only those to keep."""
    content = json.loads(path.read_text())
    case = content["cases"][number]
    if keep is not None:
        case["expected"] = {k: v for k, v in case["expected"].items() if k in keep}
    return {**content, "cases": [case]}


def write(folder: Path, content: Any, name: str = "cases.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("path", FILES, ids=stem)
def test_every_case_passes_and_every_expected_field_is_compared(path: Path) -> None:
    outcome = run_file(path)
    assert outcome.is_supported
    assert outcome.cases
    assert [(case.name, case.faults) for case in outcome.cases if case.faults] == []
    assert [case.not_compared for case in outcome.cases if case.not_compared] == []
    assert [case.not_run for case in outcome.cases if case.not_run] == []


def test_there_is_a_file_for_every_kind() -> None:
    contents = [json.loads(path.read_text()) for path in FILES]
    kinds = {content.get("kind") or content["topic"] for content in contents}
    assert kinds == set(KINDS) - ON_DATA_OF_OTHERS


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(("path", "number", "place"), list(places_to_corrupt()))
def test_a_corrupted_expected_value_is_caught(
    tmp_path: Path, path: Path, number: int, place: tuple[Any, ...]
) -> None:
    content = with_only(path, number, keep={place[0], *NAMES})
    by_target = content["cases"][0]["expected"].get("analysis_with_target", {})
    for target in set(by_target) - set(place):
        del by_target[target]  # to save time
    assert not run_file(write(tmp_path, content)).is_failed
    *above, last = place
    corrupted = copy.deepcopy(content)
    inner = corrupted["cases"][0]["expected"]
    for key in above:
        inner = inner[key]
    inner[last] = other(inner[last])
    outcome = run_file(write(tmp_path, corrupted))
    assert outcome.is_failed
    assert outcome.n_passed == 0
    assert outcome.cases[0].faults


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=stem)
def test_a_missing_element_of_an_expected_list_is_caught(tmp_path: Path, path: Path) -> None:
    n_caught = 0
    for number, case in enumerate(json.loads(path.read_text())["cases"][:3]):
        for field, value in case["expected"].items():
            if (
                isinstance(value, list)
                and value
                and field not in DESCRIPTIONS | BEST_OF | {"analysis"}
            ):
                content = with_only(path, number, keep={field, *NAMES})
                content["cases"][0]["expected"][field] = value[:-1]
                assert run_file(write(tmp_path, content)).is_failed, (case["id"], field)
                n_caught += 1
    assert n_caught or path.stem in WITHOUT_LISTS


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_every_number_that_is_a_little_off_is_a_fault_of_its_own(tmp_path: Path, kind: str) -> None:
    content = json.loads((GOLDEN / f"{kind}.json").read_text())
    wanted: list[int] = []
    for case in content["cases"]:
        numbers = [(at, x) for at, x in leaves(case["expected"]) if isinstance(x, float)]
        for place, value in numbers:
            inner = case["expected"]
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value * (1 + 3e-6) or 1e-6
        wanted.append(len(numbers))
    outcome = run_file(write(tmp_path, content))
    assert sum(wanted) > 20
    assert [len(case.faults) for case in outcome.cases] == wanted


@pytest.mark.parametrize("field", ["values", "cells"])
def test_a_number_that_nobody_computes_is_a_fault(tmp_path: Path, field: str) -> None:
    content = json.loads((GOLDEN / "match_probability.json").read_text())
    content["cases"] = [case for case in content["cases"] if field in case["expected"]][:1]
    assert not run_file(write(tmp_path, content)).is_failed
    content["cases"][0]["expected"][field][0]["colour"] = 0.5
    assert run_file(write(tmp_path, content)).is_failed


def test_a_null_that_should_not_be_is_caught(tmp_path: Path) -> None:
    content = with_only(GOLDEN / "keys_kvm_analysis.json", 0)
    by_prevalence = content["cases"][0]["expected"]["by_prevalence"]
    by_prevalence["0"]["Residence"] = None
    assert run_file(write(tmp_path, content)).is_failed
    by_prevalence["0"] = {"Residence": {"N": 1}, "Height": None}
    assert run_file(write(tmp_path, content)).is_failed


def test_a_result_where_there_is_none_is_caught(tmp_path: Path) -> None:
    content = with_only(GOLDEN / "keys_kvm_analysis.json", 1)
    by_prevalence = content["cases"][0]["expected"]["by_prevalence"]
    assert by_prevalence["0"]["Other"] is None
    by_prevalence["0"]["Other"] = {"N": 1}
    assert run_file(write(tmp_path, content)).is_failed


def test_one_prevalence_may_stand_alone(tmp_path: Path) -> None:
    content = with_only(GOLDEN / "keys_kvm_analysis.json", 0)
    (case,) = content["cases"]
    case["input"]["prevalence"] = "1/2"
    case["expected"] = case["expected"]["by_prevalence"]["1/2"]
    assert not run_file(write(tmp_path, content)).is_failed
    case["expected"]["Residence"]["N"] += 1
    assert run_file(write(tmp_path, content)).is_failed


@pytest.mark.slow
def test_of_very_many_maximal_harmonizations_all_are_compared(tmp_path: Path) -> None:
    sinks = [f"s{number}" for number in range(8)]
    pairs = [[a, b] for number, a in enumerate(sinks) for b in sinks[:number]]
    merged = ["+".join(pair) for pair in pairs]
    categories = {
        name: [name, *(sink for sink in sinks if sink not in pair)]
        for name, pair in zip(merged, pairs, strict=True)
    }
    partitions = [[pair, *([s] for s in sinks if s not in pair)] for pair in pairs]
    wanted: dict[str, Any] = {
        "N": 1,
        "maximal": [{"partition": c, "letter": "C"} for c in partitions],
    }
    graph = {
        "nodes": [*sinks, *merged],
        "edges": [[name, s] for name, pair in zip(merged, pairs, strict=True) for s in pair],
    }
    case = {
        "input": {
            "partition_graphs": {"X": graph},
            "forms": {name: {"X": labels} for name, labels in categories.items()},
            "environment": merged,
            "target_form": {"X": []},
        },
        "expected": {"by_prevalence": {"0": {"X": wanted}}},
    }
    content = {"kind": "keys_kvm_analysis", "cases": [case]}
    assert len(merged) > 20
    assert not run_file(write(tmp_path, content)).is_failed
    wanted["maximal"] = wanted["maximal"][:5]
    assert run_file(write(tmp_path, content)).is_failed


def test_harmonizations_may_be_numbered_in_another_order(tmp_path: Path) -> None:
    content = with_only(GOLDEN / "keys_harmonization_graph.json", 5)
    (case,) = content["cases"]
    free = [node for node in case["expected"]["nodes"] if node["code"] is None]
    assert len(free) == 3
    for number, node in enumerate(reversed(free), start=1):
        node["code"] = f"H4.00{number}"
    assert not run_file(write(tmp_path, content)).is_failed


def test_names_and_ids_do_not_matter(tmp_path: Path, capsys: Capture) -> None:
    content = with_only(GOLDEN / "keys_codes.json", 0)
    del content["cases"][0]["id"]
    write(tmp_path, content, "another name.json")
    assert main([str(tmp_path)]) == 0
    assert "1 of 1 cases passed in 1 files" in capsys.readouterr().out


def test_the_kind_may_be_the_topic_or_the_name_of_the_file(tmp_path: Path) -> None:
    content = with_only(GOLDEN / "keys_codes.json", 0)
    kind = content.pop("kind")
    assert run_file(write(tmp_path, content, f"{kind}.json")).cases
    assert not run_file(write(tmp_path, content, "other.json")).is_supported
    content["topic"] = kind
    assert run_file(write(tmp_path, content, "other.json")).cases


@pytest.mark.parametrize("content", [{"topic": "new", "cases": [{}]}, {"topic": "new"}, {}])
def test_an_unsupported_kind_is_reported_and_never_passed(
    tmp_path: Path, capsys: Capture, content: Any
) -> None:
    write(tmp_path, content)
    assert main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "not yet supported" in said
    assert "0 of 0 cases passed in 0 files; 1 files not yet supported" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "not an object"),
        ({"kind": "keys_codes"}, "no list of 'cases'"),
        ({"kind": "keys_codes", "cases": {}}, "no list of 'cases'"),
        ({"kind": "keys_codes", "cases": [7]}, "#1: unexpected shape"),
        ({"kind": "keys_codes", "cases": [{"id": "a"}]}, "a: unexpected shape: it has no 'input'"),
        ({"kind": "keys_codes", "cases": [{"input": {}, "expected": []}]}, "no 'expected'"),
        ({"kind": "keys_codes", "cases": [{"input": {}, "expected": {}}]}, "has no 'observed'"),
        (
            {"kind": "keys_codes", "cases": [{"input": {"observed": []}, "expected": {}}]},
            "nothing that can be compared",
        ),
        (
            {"kind": "keys_codes", "cases": [{"input": {"observed": 5}, "expected": {}}]},
            "stopped by TypeError",
        ),
        (
            {
                "kind": "keys_harmonize",
                "cases": [{"input": {"categorizations": []}, "expected": {}}],
            },
            "refused: A harmonization was asked for",
        ),
        ({"kind": "keys_kvm_analysis", "cases": [{"input": {}, "expected": {}}]}, "no 'forms'"),
    ],
)
def test_what_cannot_be_run_is_a_failure_and_no_crash(
    tmp_path: Path, capsys: Capture, content: Any, words: str
) -> None:
    write(tmp_path, content)
    write(tmp_path, with_only(GOLDEN / "keys_codes.json", 0), "good.json")
    assert main([str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert words in said
    assert "1/1 passed" in said
    assert "Failed: cases.json" in said


def test_bytes_that_are_no_text_are_a_failure(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "cases.json").write_bytes(b'{"kind": "keys_codes\xff"}')
    assert main([str(tmp_path)]) == 1
    assert "cannot be read as JSON" in capsys.readouterr().out


def test_differences_are_shown_with_what_was_expected_and_found(
    tmp_path: Path, capsys: Capture
) -> None:
    content = with_only(GOLDEN / "keys_codes.json", 0)
    (case,) = content["cases"]
    case["expected"]["codes"][0] = "C9.999"
    content["cases"] = [{**case, "id": f"case {number}"} for number in range(5)]
    write(tmp_path, content)
    assert main([str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "0/5 passed" in said
    assert 'case 0: codes: expected ["C9.999", "C0.001"' in said
    assert 'found ["C2.001", "C0.001"' in said
    assert "and 2 more failed cases" in said


def test_an_expected_field_that_is_not_known_is_named(tmp_path: Path, capsys: Capture) -> None:
    content = with_only(GOLDEN / "keys_codes.json", 0)
    content["cases"][0]["expected"]["colour"] = "blue"
    write(tmp_path, content)
    assert main([str(tmp_path)]) == 0
    assert "1/1 passed (not compared: colour)" in capsys.readouterr().out


def test_nothing_to_run_is_told_apart_from_a_failure(tmp_path: Path, capsys: Capture) -> None:
    assert main([str(tmp_path / "missing")]) == 2
    assert "no such folder" in capsys.readouterr().out
    assert main([str(tmp_path)]) == 2
    assert "no cases" in capsys.readouterr().out
    write(tmp_path, {"kind": "keys_codes", "cases": []})
    assert main([str(tmp_path)]) == 2
    assert main([]) == 2
    # Beside a file with cases, one without is a failure: it shows nothing.
    write(tmp_path, with_only(GOLDEN / "keys_codes.json", 0), "good.json")
    assert main([str(tmp_path)]) == 1


@pytest.mark.slow
def test_it_runs_as_a_module(tmp_path: Path) -> None:
    write(tmp_path, with_only(GOLDEN / "keys_codes.json", 0))
    command = [sys.executable, "-m", "tests.reference.run", str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 of 1 cases passed" in done.stdout


@pytest.mark.slow
def test_environments_that_come_out_of_a_store_give_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    # No other kind has an environment.
    for path in GOLDEN.glob("keys_*.json"):
        shutil.copy(path, tmp_path)
    made: list[int] = []
    create = EnvironmentStore.create

    def counted(*given: Any, **more: Any) -> EnvironmentStore:
        made.append(1)
        return create(*given, **more)

    monkeypatch.setattr(EnvironmentStore, "create", counted)
    assert main(["--through-store", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert len(made) > 10
    made.clear()
    assert main([str(tmp_path)]) == 0
    assert not made
    assert capsys.readouterr().out == printed


def test_where_no_recoding_meets_the_target_none_is_chosen(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "protect_recoding.json").read_text())
    case = document["cases"][0]
    case["input"] |= {"k": len(case["input"]["rows"]) + 1, "max_records_in_small_classes": 0}
    case["expected"] = {"safe": 0, "least_loss_bits": None, "optimal": [], "minimal_safe": 0}
    path = tmp_path / "protect_recoding.json"
    path.write_text(json.dumps({**document, "cases": [case]}))
    assert not run_file(path).is_failed
    case["expected"] |= {"optimal": [[[[0]]]]}
    path.write_text(json.dumps({**document, "cases": [case]}))
    assert run_file(path).is_failed
