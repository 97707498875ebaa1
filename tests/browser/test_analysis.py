"""Groups, the analysis and its scenario in the browser: the same to the digit as at the prompt."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

TARGET = "Census microdata 2031 (proposed release)"


def _group(page):
    page.get_by_role("button", name="New group").click()
    page.get_by_label("Name").fill("Banks by mouse")
    page.get_by_label("Find forms").fill("sector = banks")
    expect(page.get_by_role("heading", name="forms now")).to_be_visible()
    page.get_by_role("button", name="Save …").click()
    page.get_by_role("dialog").get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Banks by mouse")


def test_a_group_an_analysis_and_a_scenario(opened, serving):
    page = opened("/groups")
    _group(page)
    page.get_by_role("link", name="Analysis").click()
    page.get_by_role("combobox", name="Target").fill(TARGET)
    page.get_by_role("combobox", name="Against").select_option("Banks by mouse")
    page.get_by_role("button", name="Analyse").click()
    slider = page.get_by_role("slider")
    slider.fill("2")
    expect(page.get_by_text("At least 2 of ")).to_be_visible()
    shown = {
        row.get_by_role("cell").nth(1).inner_text(): row.get_by_role("cell").nth(4).inner_text()
        for row in page.get_by_role("table", name="Variables by area").get_by_role("row").all()[1:]
    }
    total = int(slider.get_attribute("max"))
    store = next((serving.folder / "demo-workbench").glob("*.gk"))
    printed = subprocess.run(
        [
            sys.executable, "-m", "gamekeeper", "map", str(store), TARGET, "--group", "Banks by mouse",
            "--prevalence", f"2/{total}", "--format", "json",
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = {
        row["variable"]: row.get("codes", row.get("code"))
        for row in json.loads(printed.stdout)["rows"]
        if "variable" in row
    }
    for variable, codes in shown.items():
        wanted = told[variable]
        wanted = " ".join(wanted) if isinstance(wanted, list) else str(wanted or "")
        assert codes.replace(" …", "") == wanted.replace(",", ""), variable
    page.get_by_role("button", name="Save as scenario").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("A banker")
    dialog.get_by_role("button", name="Save …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A banker")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", name="Review")).to_be_visible()
