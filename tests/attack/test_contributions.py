"""Plots of risk show the numbers of their results, whatever the names."""

from __future__ import annotations

import pytest

from gamekeeper.attack.uniques.suda import assess_uniques
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError
from tests.given.figures import drawn

ROWS = [[1, 1], [1, 2], [2, 1], [2, 1], [3, 2]]


def assess(rows=ROWS, names=("A", "B"), words=None, **options):
    return assess_uniques(
        count_keys(coded_from_codes(rows, list(names), words), list(names)), **options
    )


def heights(ax):
    return sum(bar.get_height() for bar in ax.patches)


@pytest.mark.parametrize("measure", ["is", "dis_is"])
def test_the_distribution_has_every_unique(measure):
    ax = drawn(assess(fraction="1/2", rank_by=measure).plot())
    assert heights(ax) == 3
    assert "3 records above 0, 2 at 0" in ax.get_title(loc="left")


def test_sizes_have_every_msu():
    risk = assess()
    ax = drawn(risk.sizes.plot())
    assert heights(ax) == risk.file["msus"] + risk.file["sample_uniques"]


def test_contributions_of_variables_are_their_percentages():
    risk = assess()
    ax = drawn(risk.variables.plot())
    ends = {}
    for bar in ax.patches:
        ends[bar.get_y()] = max(ends.get(bar.get_y(), 0), bar.get_x() + bar.get_width())
    assert sorted(ends.values(), reverse=True) == pytest.approx(
        risk.variables.to_arrow()["is_percent"].to_pylist()
    )


def test_only_the_first_categories_are_drawn():
    ax = drawn(assess().categories.plot(most=2))
    assert len(ax.get_yticklabels()) == 2
    assert "3 categories more not shown" in ax.get_title(loc="left")
    with pytest.raises(InputError, match="less than one"):
        assess().categories.plot(most=0)


def test_nothing_to_draw_is_drawn():
    risk = assess([[1, 1], [1, 1]])
    for figure in (risk.plot(), risk.variables.plot(), risk.categories.plot(), risk.sizes.plot()):
        drawn(figure)


def test_a_single_record_is_drawn():
    risk = assess([[1, 1]], fraction="1/2")
    for figure in (risk.plot(), risk.variables.plot(), risk.categories.plot(), risk.sizes.plot()):
        drawn(figure)


def test_names_that_the_font_lacks_or_that_look_like_formulas():
    words = [("missing", "$a_1$", "漢字", "x" * 200), ("missing", "\N{PILE OF POO}", "b")]
    risk = assess(names=("$x$", "年齢"), words=words)
    ax = drawn(risk.categories.plot())
    assert any("$a_1$" in label.get_text() for label in ax.get_yticklabels())
    drawn(risk.variables.plot())
