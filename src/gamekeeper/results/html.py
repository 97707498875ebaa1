"""Tables as plain HTML, for notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table_html(
    header: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = ""
) -> str:
    """Return one HTML table with every cell escaped.

    Examples
    --------
    >>> table_html(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
