from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reference.run import run_file


@pytest.mark.parametrize(
    ("correct_links", "is_failed"),
    [([3, 1], False), ([1, 3], False), ([3, 2, 1], True), ([2], True), ([], True)],
)
def test_any_value_of_an_optimum_is_accepted_and_no_other(
    tmp_path: Path, correct_links: list[int], is_failed: bool
) -> None:
    case = {
        "input": {"w": [[1, 1, 9], [1, 1, 9], [9, 9, 0]]},
        "expected": {
            "optimal_assignments": [[0, 1, 2], [1, 0, 2]],
            "correct_links": correct_links,
        },
    }
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"kind": "assignment", "cases": [case]}))
    assert run_file(path).is_failed == is_failed
