"""The plot of a recoding: bars of what is known, words for what is not."""

from __future__ import annotations

import pytest

from gamekeeper.attack.what_if import Compared, WhatIf, plot_what_if
from gamekeeper.results import Provenance


def compared(*lines):
    return WhatIf(tuple(lines), (), (), Provenance("what if"))


def test_bars_are_as_long_as_the_measures_and_what_is_not_known_is_said():
    found = compared(
        Compared("sample_uniques", 7.0, 2.0, "x"),
        Compared("tau1", 3.5, None, "x", (1.0, 6.0)),
        Compared("dis", 0.25, 0.5, "x"),
    )
    left, right = plot_what_if(found).axes
    assert [bar.get_width() for bar in left.patches] == [7.0, 3.5, 2.0, 0.0]
    assert [bar.get_width() for bar in right.patches] == [0.25, 0.5]
    assert [text.get_text() for text in left.texts] == ["7", "3.5", "2", "not known"]
    (bars,) = [one for one in left.containers if getattr(one, "has_xerr", False)]
    low, high = bars.lines[2][0].get_segments()[1]
    assert (low[0], high[0]) == pytest.approx((1.0, 6.0))
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["before", "after"]


def test_a_file_without_anything_known_can_be_drawn():
    left, right = plot_what_if(compared(Compared("dis", None, None, "x"))).axes
    assert not left.patches
    assert [text.get_text() for text in right.texts] == ["not known", "not known"]
