"""The plot of a recoding: what it would do to records and to the worth of a match."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.results.plotting import COLOURS, MUTED, new_figure, ruled
from gamekeeper.wording import three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gamekeeper.attack.what_if import Compared, WhatIf

_HEIGHT = 0.38
_RECORDS = {
    "sample_uniques": "unique in the file",
    "uniques_as_released": "like no other as released",
    "below_3": "in classes of fewer than 3",
    "below_5": "in classes of fewer than 5",
    "tau1": "unique in the population",
    "expected_matches": "matched rightly",
}
_CHANCES = {"dis": "by DIS"}


def plot_what_if(found: WhatIf) -> Figure:
    """Plot a file before and after; needs no display.

    Examples
    --------
    >>> from gamekeeper.attack.what_if import compare_recoded
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> keys = count_keys(coded_from_codes([[1], [2]], ["Age"]), ["Age"])
    >>> figure = plot_what_if(compare_recoded(keys, keys))
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()][0]
    'unique in the file'
    """
    known = {line.measure: line for line in found.lines}
    figure = new_figure(10.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    records = {words: known[name] for name, words in _RECORDS.items() if name in known}
    _bars(left, list(records), list(records.values()))
    left.set_xlabel("Records; estimates with their 95% interval")
    left.set_title("Records before and after", loc="left")
    left.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    chances = {words: known[name] for name, words in _CHANCES.items() if name in known}
    _bars(right, list(chances), list(chances.values()))
    right.set_xlim(0, 1)
    right.set_xlabel("Probability")
    right.set_title("Worth of a unique match", loc="left")
    left.legend(frameon=False, loc="lower right")
    return figure


def _bars(ax: Axes, names: Sequence[str], lines: Sequence[Compared]) -> None:
    """Draw two bars for each measure; what is not known has words in its place."""
    ruled(ax, "x")
    sides = [
        ("before", [(line.before, line.before_range) for line in lines]),
        ("after", [(line.after, line.after_range) for line in lines]),
    ]
    for number, (side, values) in enumerate(sides):
        places = [place + (number - 0.5) * _HEIGHT for place in range(len(lines))]
        lengths = [0.0 if value is None else value for value, _ in values]
        ends = [
            (math.nan, math.nan)
            if span is None or value is None
            else (max(value - span[0], 0.0), max(span[1] - value, 0.0))
            for value, span in values
        ]
        errors = [[low for low, _ in ends], [high for _, high in ends]]
        has_any = not all(math.isnan(low) for low, _ in ends)
        ax.barh(
            places, lengths, _HEIGHT, color=COLOURS[number], label=side, ecolor=MUTED, capsize=2,
            xerr=errors if has_any else None,
        )  # fmt: skip
        for place, (value, _), (_, high) in zip(places, values, ends, strict=True):
            text = "not known" if value is None else three_digits(value)
            end = (value or 0.0) + (0.0 if math.isnan(high) else high)
            ax.annotate(
                text, (end, place), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize="small", color=MUTED,
            )  # fmt: skip
    ax.set_yticks(range(len(names)), list(names))
    ax.invert_yaxis()
    ax.margins(x=0.15)
