"""Files of data that a case names: by their fingerprint, or by their name and columns.

They are looked for among our own and in the folder that GAMEKEEPER_DATA names. A fingerprint
finds the file whatever it is called. Without one the name decides, and where no file has the
name, the columns do if only one file has exactly these.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.reference.cases import Case, NotRun, ShapeError

__all__ = ["DATA", "GOLDEN", "rows_of", "rows_of_case"]

GOLDEN = Path(__file__).parent / "golden"
DATA = "GAMEKEEPER_DATA"


def rows_of(columns: Sequence[str], *, file: str, sha256: str) -> list[list[str]]:
    """Return the columns of the file that a case names, as text, in the order of its lines."""
    if sha256:
        path = next((at for at in _candidates() if _is_the_file(at, columns, sha256)), None)
    else:
        path = _named(columns, file)
    if path is None:
        where = f"it is not in the folder that {DATA} names"
        where = where if os.environ.get(DATA) else f"{DATA} names no folder"
        raise NotRun(f"its file of data is needed, and {where}")
    header, *rows = _lines(path)
    if not set(columns) <= set(header):
        raise ShapeError(f"the columns are not all in the file '{path.name}'")
    places = [header.index(name) for name in columns]
    return [[row[place] for place in places] for row in rows]


def rows_of_case(case: Case, columns: Sequence[str] = (), *, file: str = "") -> list[list[str]]:
    """Return the records of a case as text: the rows that it has itself, or those of its file."""
    if "rows" in case.given:
        return [["" if cell is None else str(cell) for cell in row] for row in case.given["rows"]]
    sha256: str = case.given.get("sha256") or ""
    named: str = case.given.get("file", "") if sha256 else case.needs("file")
    return rows_of(columns, file=file or named, sha256=sha256)


def _candidates() -> Iterator[Path]:
    yield from sorted(GOLDEN.glob("*.csv"))
    if folder := os.environ.get(DATA):
        yield from sorted(Path(folder).rglob("*.csv"))


def _named(columns: Sequence[str], file: str) -> Path | None:
    """Return the file of this name; if there is none, the only one with these columns."""
    # A name may come with words about where the file is from.
    parts = [tuple(Path(word).parts) for word in re.findall(r"[^\s'\"]+\.csv\b", file)]
    candidates = list(_candidates())
    for path in candidates:
        if any(path.parts[-len(part) :] == part for part in parts):
            return path
    fitting = [path for path in candidates if _header(path)[0] == list(columns)]
    return fitting[0] if len(fitting) == 1 else None


def _lines(path: Path) -> list[list[str]]:
    text = path.read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=_header(path)[1]))


def _header(path: Path) -> tuple[list[str], str]:
    """Return the names of the columns, and the mark between them."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline()
    delimiter = max(";,\t", key=line.count)
    return next(csv.reader([line.strip("\r\n")], delimiter=delimiter), []), delimiter


def _is_the_file(path: Path, columns: Sequence[str], sha256: str) -> bool:
    header, delimiter = _header(path)
    return header == list(columns) and sha256 in _fingerprints(path.read_bytes(), delimiter)


def _fingerprints(content: bytes, delimiter: str) -> set[str]:
    """Return the fingerprint of a file as it is and as written with other marks.

    The same table is handed on with semicolons or commas and with either end of line.
    """
    plain = content.replace(b"\r\n", b"\n")
    writings = {content}
    for mark in (b";", b","):
        marked = plain.replace(delimiter.encode(), mark)
        writings |= {marked, marked.replace(b"\n", b"\r\n")}
    return {hashlib.sha256(writing).hexdigest() for writing in writings}
