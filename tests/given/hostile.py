"""Workbooks that say of themselves what they are not, written by hand: no library would write them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels"'
    ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_LINKS = (
    '<?xml version="1.0"?><Relationships'
    ' xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/{{}}" Target="{{}}"/></Relationships>'
)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="/" manifest:media-type="{}"/></manifest:manifest>'
)
SPELLINGS = {
    "as all write it": '<c r="{}" t="inlineStr"><is><t>x</t></is></c>',
    "type before place": '<c t="inlineStr" r="{}"><is><t>x</t></is></c>',
    "a line break": '<c\nr="{}" t="inlineStr"><is><t>x</t></is></c>',
}
"""Ways to say where a cell is."""


def xlsx(path: Path, rows: str, *, sheet: str = "survey") -> Path:
    """Write a workbook with the rows of one sheet as they are."""
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _LINKS.format("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f'<sheet name="{sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _LINKS.format("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(name, text)
    return path


def rows_of(texts: Sequence[Sequence[str]]) -> str:
    """Return the first rows of a sheet, which are as they should be."""
    return "".join(
        f'<row r="{n}">'
        + "".join(
            f'<c r="{"ABC"[at]}{n}" t="inlineStr"><is><t>{text}</t></is></c>'
            for at, text in enumerate(row)
        )
        + "</row>"
        for n, row in enumerate(texts, 1)
    )


def far_apart(
    path: Path,
    cell: str = "XFD1048576",
    spelling: str = "as all write it",
    *,
    before: Sequence[Sequence[str]] = (),
) -> Path:
    """Write a workbook of two cells, A1 and one far from it, or of some rows and that cell."""
    row = "".join(filter(str.isdigit, cell))
    one = SPELLINGS[spelling].format
    first = rows_of(before) or f'<row r="1">{one("A1")}</row>'
    return xlsx(path, f'{first}<row r="{row}">{one(cell)}</row>')


def repeated(path: Path, rows: int, columns: int, *, before: Sequence[Sequence[str]] = ()) -> Path:
    """Write a sheet of OpenDocument whose one cell is repeated, below some rows."""
    text = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    first = "".join(
        f"<table:table-row>{''.join(map(text.format, row))}</table:table-row>" for row in before
    )
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{office}:office:1.0"'
        f' xmlns:table="{office}:table:1.0" xmlns:text="{office}:text:1.0">'
        '<office:body><office:spreadsheet><table:table table:name="survey">'
        f'{first}<table:table-row table:number-rows-repeated="{rows}">'
        f'<table:table-cell office:value-type="string" table:number-columns-repeated="{columns}">'
        "<text:p>x</text:p></table:table-cell></table:table-row></table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", kind, zipfile.ZIP_STORED)
        book.writestr("content.xml", content)
        book.writestr("META-INF/manifest.xml", _MANIFEST.format(kind))
    return path
