"""A file to import, opened once; each reader looks at it as text, table, sheets, XML or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from gamekeeper.importing.files.limits import MOST_MEGABYTES, malformed, open_bytes
from gamekeeper.importing.files.sheet_file import sheets
from gamekeeper.importing.files.text_file import TABLES, decoded, has_columns, rows_of, table
from gamekeeper.importing.files.xml_file import parsed


class OpenedFile:
    """The content of a file in every shape that a reader may want; each is made when asked for."""

    def __init__(self, path: Path, most_megabytes: int = MOST_MEGABYTES) -> None:
        self.path = path
        self.name = path.name
        self.ending = path.suffix.casefold()
        self._most = most_megabytes

    @cached_property
    def content(self) -> bytes:
        """The bytes."""
        return open_bytes(self.path, self._most)

    @cached_property
    def text(self) -> str:
        """The text, decoded."""
        return decoded(self.content, self.name)

    @cached_property
    def rows(self) -> list[list[str]]:
        """Rows of a delimited text, the header first."""
        return rows_of(self.text, self.name)

    @cached_property
    def table(self) -> tuple[list[str], list[dict[str, str]]]:
        """Header and rows of a delimited text."""
        return table(self.rows)

    @cached_property
    def sheets(self) -> dict[str, list[list[str]]]:
        """The sheets of a workbook."""
        return sheets(self.content, self.name, self._most)

    @cached_property
    def xml(self) -> Element:
        """The root of an XML document."""
        return parsed(self.content, self.name)

    @cached_property
    def json(self) -> Any:
        """The value of a JSON document."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            raise malformed(self.name, "It is not JSON.") from None

    def has_columns(self, *choices: Sequence[str]) -> bool:
        """Tell whether it is a delimited text with at least one column of every choice."""
        return self.ending in TABLES and has_columns(self.table[0], *choices)

    def neighbour(self, name: str) -> OpenedFile | None:
        """Return another file of the same folder, if it is there."""
        path = self.path.with_name(name)
        return OpenedFile(path, self._most) if name != self.name and path.is_file() else None
