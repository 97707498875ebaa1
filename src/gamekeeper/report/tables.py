"""Tables for reading: the same columns in the report, on the terminal and for pasting."""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.mapping.key_variables import KeyVariable, KeyVariableMap
from gamekeeper.report.words import listed, number_text, short

__all__ = ["NONE", "key_table"]

NONE = "—"
"""What stands where there is nothing to say."""

_SHOWN_CODES = 3
_SHOWN_CATEGORIES = 6
_CELL_LETTERS = 90


def key_table(key_variable_map: KeyVariableMap) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the ranked key variables as a header and rows of text.

    Numbers have at most two decimals; ∞ stands for unbounded and a dash for none. Under "Forms"
    is how many of the forms can be matched at the code.

    Examples
    --------
    >>> from gamekeeper.mapping.analysis import map_key_variables
    >>> from gamekeeper.mapping.environment import Environment, Form
    >>> from gamekeeper.mapping.variable import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    >>> bank = Form("Bank", {"Age": ("0-15", "16-64", "65+")})
    >>> environment = Environment([age], [bank, Form("Census", {"Age": ()})])
    >>> header, rows = key_table(map_key_variables(environment, "Census"))
    >>> rows
    [('1', 'Age', 'C3.001', '3', '1 of 1', '3', '3', '0-15; 16-64; 65+')]
    """
    header = ("Rank", "Variable", "Code", "Categories", "Forms", "Area", "Effective", "In words")
    rows = [_row(rank, item) for rank, item in enumerate(key_variable_map.variables, start=1)]
    return header, rows


def _row(rank: int, item: KeyVariable) -> tuple[str, ...]:
    name = short(item.variable)
    if item.message:
        return (NONE, name, *[NONE] * 5, "no result: inconsistent categorizations")
    area = number_text(item.area)
    if not item.maximal:
        return (str(rank), name, NONE, NONE, NONE, area, NONE, item.why)
    first = item.maximal[0]
    return (
        str(rank),
        name,
        _codes(item),
        number_text(item.n_categories),
        f"{first.n_forms} of {item.n_forms}",
        area,
        number_text(item.effective),
        _words(first.categories),
    )


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
    return f"{shown} and {left_out} more" if left_out > 0 else shown
