"""The notebooks of the documentation run, and show what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.examples.notebook import run_cells

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def test_there_is_one():
    assert NOTEBOOKS


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_kept_of_it(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    kept = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    # Pictures differ with the fonts of a machine; that there is one does not.
    assert without_pictures(run_cells(notebook)) == without_pictures(kept)
    assert any("image/png" in item.get("data", ()) for made in kept for item in made)


def without_pictures(outputs):
    return [
        [
            {**item, "data": {k: "" if k == "image/png" else v for k, v in item["data"].items()}}
            if "data" in item
            else item
            for item in made
        ]
        for made in outputs
    ]
