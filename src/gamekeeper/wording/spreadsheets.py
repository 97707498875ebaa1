r"""Texts that a spreadsheet would run as a formula, written so that it shows them.

Spreadsheets take a cell of a CSV file that begins with ``= + - @``, a tab or a line end for a
formula, which can call other programs. An apostrophe before it makes it a text. A plain number
such as -9 is no formula and stays as it is.
"""

from __future__ import annotations

import re
from typing import Any, Final

STARTS: Final = "=+-@\t\r\n＝＋－＠"
"""What a formula may begin with, as it is and in full width."""

NUMERAL: Final = r"^[+-][0-9]+([.,][0-9]+)*(e[+-]?[0-9]+)?%?$"
"""A plain number with a sign."""

_NUMERAL = re.compile(NUMERAL, re.IGNORECASE)


def shown_cell(cell: Any) -> Any:
    """Return a cell as it may be opened in a spreadsheet; what is no text stays as it is.

    Examples
    --------
    >>> shown_cell("=1+1"), shown_cell("-9"), shown_cell(-9)
    ("'=1+1", '-9', -9)
    """
    if not isinstance(cell, str):
        return cell
    start = cell.lstrip("'")[:1]
    return f"'{cell}" if start and start in STARTS and not _NUMERAL.match(cell) else cell


def read_cell(text: str) -> str:
    """Return what a cell was before it was written to be shown.

    Examples
    --------
    >>> [read_cell(shown_cell(text)) for text in ("=1", "'=1", "-9", "a")]
    ['=1', "'=1", '-9', 'a']
    """
    start = text.lstrip("'")[:1]
    return text[1:] if text.startswith("'") and start and start in STARTS else text
