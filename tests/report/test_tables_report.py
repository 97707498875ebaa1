"""The report on released tables has the numbers of its results, and nothing of the truth."""

from __future__ import annotations

import re

import pytest

from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.attack.tables.feasible import infer_attributions
from gamekeeper.attack.tables.subtraction import subtract_known
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import make_release
from gamekeeper.report.page import build_risk_report
from gamekeeper.report.tables_report import released_report

MARKUP = "</td><script>alert('x')</script>"
AXES = {"age": ["16-17", "18-24", MARKUP], "work": ["yes", "no"]}
TRUTH = CountTable.typed(AXES, [[0, 7341], [3, 2], [9, 0]])


@pytest.fixture(scope="module")
def found():
    release = make_release(TRUTH, [("age", "work"), ()], "conventional:5", title=f"Town {MARKUP}")
    bounds = bound_cells(release)
    return release, bounds, infer_attributions(release, bounds=bounds)


@pytest.fixture(scope="module")
def page(found):
    release, bounds, said = found
    sap = subtract_known(release, TRUTH, n=[0, 2, 5], at=5)
    return build_risk_report(released_report(release, bounds, said, subtraction=sap)), sap


def numbers(page):
    return [float(text) for text in re.findall(r'data-value="([^"]+)"', page) if _is_number(text)]


def _is_number(text):
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", text) is not None


def test_every_number_of_the_results_is_there(found, page):
    release, bounds, said = found
    text, sap = page
    there = numbers(text)
    for table in (bounds.to_arrow(), sap.to_arrow(), sap.detail.to_arrow()):
        are_there(table, there)
    for sentence in (*bounds.sentences(), said.sentences()[0], *sap.sentences()):
        assert sentence in text
    for table in release.published:
        assert table.scheme.text in text
    assert "3 x 2 cells" in text


def are_there(table, there):
    for name in table.column_names:
        for cell in table[name].to_pylist():
            if isinstance(cell, int | float) and not isinstance(cell, bool):
                assert float(cell) in there, (name, cell)


def test_every_statement_is_there():
    truth = CountTable.typed({"age": ["16-17", "18+"], "work": ["yes", "no"]}, [[0, 4], [5, 2]])
    release = make_release(truth, [("age", "work")])
    said = infer_attributions(release)
    text = build_risk_report(released_report(release, said.bounds, said))
    assert len(said.statements) == 2
    for one in said.statements:
        assert said.words(one) in text
    are_there(said.to_arrow(), numbers(text))


def test_tiles_are_the_headlines(found):
    release, bounds, said = found
    made = released_report(release, bounds, said)
    assert made.tiles == [
        (f"{bounds.n_cells}", "cells"), (f"{bounds.n_known}", "known exactly"),
        (f"{bounds.n_zeros}", "certainly empty"),
        (f"{len(said.statements)}", "certain statements"),
    ]  # fmt: skip
    assert [section.title for section in made.sections] == [
        "Bounds on the cells", "What can be said of people for certain",
    ]  # fmt: skip


def test_markup_of_a_release_is_escaped(page):
    text, _ = page
    assert MARKUP not in text
    assert "&lt;script&gt;alert" in text


def test_without_the_truth_no_true_count_is_there(found):
    release, bounds, said = found
    text = build_risk_report(released_report(release, bounds, said))
    assert float(bounds.lower[0, 1]) in numbers(text)
    shown = re.sub(r"(?s)<svg.*?</svg>", "", text)
    assert "7341" not in shown.replace(",", "")


def test_a_release_without_a_title_has_a_heading(found):
    truth = CountTable.typed({"sex": ["f", "m"]}, [3, 1])
    release = make_release(truth, [("sex",)])
    bounds = bound_cells(release)
    made = released_report(release, bounds, infer_attributions(release, bounds=bounds))
    assert made.title == "What the release gives away"
    assert build_risk_report(made).count("Nothing can be said of anybody for certain.") >= 1


def test_drawings_hold_no_picture_that_the_page_may_not_load(page):
    text, _ = page
    assert "<svg" in text
    assert "<image" not in text
    assert "data:image" not in text
