"""What SPSS files say of themselves in fixed places: the time they were made, and the weight variable.

The library that writes them puts the time of writing there, which would make every release another
file, and knows no weights. A system file begins with 176 bytes: at 72 the kind of compression, at 76 the
number of the weight variable (0 for none; variables of more than eight letters take several numbers), at
92 and 101 date and time. Variables follow, 32 bytes each with their label and missing values after
them, and then other records up to one with the number 999.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER = 176
_COMPRESSION, _WEIGHT, _DATE, _TIME = 72, 76, 92, 101
_FIXED_DATE, _FIXED_TIME = b"01 Jan 70", b"00:00:00"
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_LONG_NAMES = 13


class SpssHeader:
    """The dictionary of a system file, as far as it tells of variables and weights."""

    def __init__(self, content: bytes) -> None:
        self.order = "<" if content[64:68] in (b"\x02\0\0\0", b"\x03\0\0\0") else ">"
        self._content = content
        self.compression = self._number(_COMPRESSION)
        self.places: dict[str, int] = {}
        """The number of every variable by its name as the file has it, in small letters."""
        self._walk()

    @property
    def weight(self) -> str:
        """The name of the weight variable in small letters; empty where there is none."""
        number = self._number(_WEIGHT)
        return next((name for name, place in self.places.items() if place == number), "")

    def _number(self, at: int) -> int:
        return int(struct.unpack_from(f"{self.order}i", self._content, at)[0])

    def _walk(self) -> None:
        at, place = _HEADER, 0
        short: dict[str, int] = {}
        longer: dict[str, str] = {}
        while at + 4 <= len(self._content):
            kind = self._number(at)
            if kind == _VARIABLE:
                place += 1
                width, has_label, n_missing = (self._number(at + 4 * n) for n in (1, 2, 3))
                name = self._content[at + 24 : at + 32].decode("latin-1").strip()
                if width >= 0:
                    short[name.casefold()] = place
                at += 32
                if has_label:
                    at += 4 + -(-self._number(at) // 4) * 4
                at += 8 * abs(n_missing)
            elif kind == _LABELS:
                count = self._number(at + 4)
                at += 8
                for _ in range(count):
                    at += 8 + -(-(self._content[at + 8] + 1) // 8) * 8
            elif kind == _LABELLED:
                at += 8 + 4 * self._number(at + 4)
            elif kind == _DOCUMENT:
                at += 8 + 80 * self._number(at + 4)
            elif kind == _EXTENSION:
                subtype, size, count = (self._number(at + 4 * n) for n in (1, 2, 3))
                text = self._content[at + 16 : at + 16 + size * count]
                if subtype == _LONG_NAMES:
                    pairs = text.decode("utf-8", "replace").strip("\0").split("\t")
                    longer = {
                        own.partition("=")[0].casefold(): own.partition("=")[2].casefold()
                        for own in pairs
                    }
                at += 16 + size * count
            else:
                break
        self.places = {longer.get(name, name): place for name, place in short.items()}


def read_header(path: Path) -> SpssHeader:
    """Return what a system file says of its variables; all of it is read, as labels may be long."""
    return SpssHeader(path.read_bytes())


def without_time(content: bytes, weight: str) -> bytes:
    """Return a system file that tells a fixed time, and whose weight is the variable of a name."""
    header = SpssHeader(content)
    made = bytearray(content)
    made[_DATE : _DATE + len(_FIXED_DATE)] = _FIXED_DATE
    made[_TIME : _TIME + len(_FIXED_TIME)] = _FIXED_TIME
    number = header.places.get(weight.casefold(), 0) if weight else 0
    struct.pack_into(f"{header.order}i", made, _WEIGHT, number)
    return bytes(made)
