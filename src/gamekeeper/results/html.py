"""Tables as plain HTML, for notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from gamekeeper.wording import cell_text


def table_html(
    header: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = ""
) -> str:
    """Return one HTML table with every cell escaped; texts to the left, numbers to the right.

    Examples
    --------
    >>> table_html(["a"], [[12345]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>12,345</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: object) -> str:
    # Notebooks put all cells to the right and cut no line, which is for numbers.
    side = ' style="text-align: left; white-space: normal"' if isinstance(cell, str) else ""
    return f"<td{side}>{escape(cell_text(cell))}</td>"
