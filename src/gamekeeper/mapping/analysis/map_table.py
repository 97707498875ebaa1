"""The ranked key variables as a table for reading: in notebooks, in reports and on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gamekeeper.results import table_html
from gamekeeper.wording import asking_text, listed, number_text, short

if TYPE_CHECKING:
    from gamekeeper.mapping.analysis.key_variables import KeyVariable, KeyVariableMap

NONE = "—"
"""What stands where there is nothing to say."""

_SHOWN_CODES = 3
_SHOWN_CATEGORIES = 6
_CELL_LETTERS = 90


def map_table(key_variable_map: KeyVariableMap) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the ranked key variables as a header and rows of text.

    Numbers have at most two decimals; ∞ stands for unbounded and a dash for none. A variable whose
    area is not known has no rank. Under "Forms" is how many of the forms can be matched at the
    first code, and "In words" are its categories.
    """
    header = ("Rank", "Variable", "Code", "Categories", "Forms", "Area", "Effective", "In words")
    rows = [_row(rank, item) for rank, item in enumerate(key_variable_map.variables, start=1)]
    return header, rows


def map_table_html(key_variable_map: KeyVariableMap) -> str:
    """Return the ranked key variables as one HTML table, every text escaped."""
    header, rows = map_table(key_variable_map)
    return table_html(header, rows, caption=f"Key variables of {short(key_variable_map.target)}")


def _row(rank: int, item: KeyVariable) -> tuple[str, ...]:
    name = short(item.variable)
    if item.message:
        why = "too many harmonizations" if item.over_limit else "inconsistent categorizations"
        return (NONE, name, *[NONE] * 5, f"no result: {why}")
    area = NONE if item.area is None else number_text(item.area)
    place = NONE if item.area is None else str(rank)
    if not item.maximal:
        return (place, name, NONE, NONE, NONE, area, NONE, _too_few(item))
    first = item.maximal[0]
    words = _words(first.categories)
    is_one_of_several = len(item.codes) > 1 or item.has_more or item.may_have_more
    return (
        place,
        name,
        _codes(item),
        number_text(item.n_categories),
        f"{first.n_forms} of {item.n_forms}",
        area,
        number_text(item.effective),
        f"for {first.code}: {words}" if is_one_of_several else words,
    )


def _too_few(item: KeyVariable) -> str:
    asking = asking_text(item.n_asking, item.n_forms, item.n_asking - item.n_having)
    if item.n_forms == 1 or not item.n_asking:
        return asking
    must = "must" if item.n_asking == item.n_having else "must without fault"
    return f"{asking}; at least {item.n_needed} {must}"


def _words(categories: Sequence[str]) -> str:
    """Return as many categories as fit a cell, at least one."""
    n_shown = n_letters = 0
    for name in categories[:_SHOWN_CATEGORIES]:
        n_letters += len(short(name)) + 2
        if n_shown and n_letters > _CELL_LETTERS:
            break
        n_shown += 1
    return listed(categories, n_shown)


def _codes(item: KeyVariable) -> str:
    shown = ", ".join(item.codes[:_SHOWN_CODES])
    left_out = len(item.codes) - _SHOWN_CODES
    if item.has_more or (item.may_have_more and left_out > 0):
        return f"{shown} and more"
    if item.may_have_more:
        return f"{shown} and perhaps more"
    return f"{shown} and {left_out} more" if left_out > 0 else shown
