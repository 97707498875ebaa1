"""Files of SPSS and Stata written as the original is: labels, missing values, formats, weight.

A numeric variable that was recoded has the new categories as labels. Categories that are values of before
keep their numbers; others have the first numbers that are free. Numbers that the file declares as missing
are passed over, and stay. Texts have the new categories themselves. Not kept, since the library that
writes does not: alignment of columns, attributes, sets of multiple responses, and the width of texts
beyond the longest one. Texts are written in UTF-8. The whole file is in memory while it is written.

Of files of other kinds, a column is one of numbers where every cell is a number as a number is written,
without leading zeros; texts that mean missing are left empty there, and numbers that do are declared as
missing (SPSS). Everything else is text. A name that these programs do not allow gets underscores, and
the original becomes the label of the variable.

The library puts the time of writing into SPSS files, which would make every release another file, and
knows no weights. A system file begins with 176 bytes: at 72 the kind of compression, at 76 the number of
the weight variable (0 for none; variables of more than eight letters take several numbers), at 92 and 101
date and time. Variables follow, 32 bytes each with their label and missing values after them, and then
other records up to one with the number 999.
"""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.arrow import pa
from gamekeeper.data.reading.columns import floats_of, number_of, value_text, value_texts
from gamekeeper.data.reading.source import Source, StatisticalFile
from gamekeeper.data.writing import released_cells
from gamekeeper.errors import InputError, Reason
from gamekeeper.files import temporary_folder
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pandas as pd

_PADDED = re.compile(r"[+-]?0\d")
_MOST_DIGITS = 15
_MOST_MISSING = 3


def read_as_statistical(
    source: Source, names: Sequence[str], records: NDArray[np.int64] | None, *, is_spss: bool
) -> tuple[pd.DataFrame, Any, dict[str, str]]:
    """Return the records of a file, what is known of its variables, and their names by column."""
    import pandas as pd

    batches = list(source.batches(names))
    new = _allowed(names, 64 if is_spss else 32)
    frame: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    labels: dict[str, dict[Any, str]] = {}
    ranges: dict[str, list[float]] = {}
    for name in names:
        texts: list[str | None] = []
        for batch in batches:
            cells = batch.column(batch.schema.names.index(name))
            if pa.types.is_dictionary(cells.type):
                cells = cells.dictionary_decode()
            texts += value_texts(cells)
        numbers = _numbers(texts, source.missing, source.decimal)
        kinds[new[name]] = "string" if numbers is None else "double"
        values: Any = np.array([text or "" for text in texts], dtype=object)
        if numbers is not None:
            values = numbers
            ranges[new[name]] = _declared(numbers, source, is_spss=is_spss)
        frame[new[name]] = values if records is None else values[records]
        own = source.column(name).labels
        labels[new[name]] = _labels(own, is_number=numbers is not None)
    told = {
        new[name]: source.column(name).label or (name if new[name] != name else None)
        for name in names
    }
    meta = SimpleNamespace(
        variable_value_labels=labels, missing_ranges=ranges, missing_user_values={},
        original_variable_types={}, readstat_variable_types=kinds, column_names_to_labels=told,
        variable_measure={}, variable_display_width={}, file_label="", notes=[],
    )  # fmt: skip
    return pd.DataFrame(frame), meta, new


def _numbers(
    texts: Sequence[str | None], missing: frozenset[str], decimal: str
) -> NDArray[np.float64] | None:
    known: dict[str, float] = {}
    for text in set(texts):
        if text is None:
            continue
        number = number_of(text, decimal)
        is_plain = number is not None and not _PADDED.match(text)
        if is_plain and number is not None and len(text.lstrip("+-")) <= _MOST_DIGITS + 2:
            known[text] = float(number)
        elif text in missing:
            known[text] = np.nan
        else:
            return None
    if not known:
        return None
    return np.array([np.nan if text is None else known[text] for text in texts])


def _declared(numbers: NDArray[np.float64], source: Source, *, is_spss: bool) -> list[float]:
    """Return the numbers that mean missing and occur, as many as SPSS lets one declare."""
    read = (number_of(text, source.decimal) for text in sorted(source.missing))
    found = [float(number) for number in read if number is not None]
    there = [number for number in found if (numbers == number).any()]
    return there[:_MOST_MISSING] if is_spss else []


def _labels(own: Any, *, is_number: bool) -> dict[Any, str]:
    if not is_number:
        return {}
    read = {text: number_of(text, ".") for text in own}
    return {float(number): own[text] for text, number in read.items() if number is not None}


def _allowed(names: Sequence[str], letters: int) -> dict[str, str]:
    """Return for every column a name that is allowed, and that no other has.

    >>> _allowed(["full name", "1st", "full_name"], 32)
    {'full name': 'full_name', '1st': 'v1st', 'full_name': 'full_name_2'}
    """
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        bare = re.sub(r"[^A-Za-z0-9_]", "_", name) or "v"
        if not bare[0].isalpha():
            bare = f"v{bare}"
        bare, number = bare[:letters], 1
        while bare.casefold() in taken:
            number += 1
            bare = f"{bare[: letters - 4].removesuffix(f'_{number - 1}')}_{number}"
        taken.add(bare.casefold())
        made[name] = bare
    return made


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


_TIMESTAMP = re.compile(rb"(<timestamp>\x11).{17}(</timestamp>)", re.DOTALL)
_FIXED_STATA_TIME = b"01 Jan 1970 00:00"
_OLD_TIME = 91  # after format, order, numbers of variables and records, and the label of 81 bytes
_RELEASE = re.compile(rb"<release>(\d+)</release>")
_VERSIONS = {113: 8, 114: 10, 115: 12, 117: 13, 118: 14, 119: 15}
_TYPES = {"int8": "Int8", "int16": "Int16", "int32": "Int32", "float": "float32"}


class _Changed:
    def __init__(self, frame: pd.DataFrame, meta: Any, *, is_spss: bool) -> None:
        self.frame = frame
        self.is_spss = is_spss
        self.labels: dict[str, dict[Any, str]] = {
            name: dict(own) for name, own in (meta.variable_value_labels or {}).items()
        }
        ranges = (meta.missing_ranges if is_spss else {}) or {}
        self.missing: dict[str, list[Any]] = {name: list(own) for name, own in ranges.items()}
        letters = {} if is_spss else (meta.missing_user_values or {})
        self.letters: dict[str, list[str]] = {name: list(own) for name, own in letters.items()}
        self.formats = {name: str(own) for name, own in meta.original_variable_types.items() if own}
        self.measures = {name: str(own) for name, own in (meta.variable_measure or {}).items()}
        self.texts = {name for name, own in meta.readstat_variable_types.items() if own == "string"}

    def is_missing(self, name: str, value: float) -> bool:
        return any(
            own["lo"] <= value <= own["hi"] if isinstance(own, Mapping) else own == value
            for own in self.missing.get(name, [])
            if not isinstance(own, str)
        )

    def means_missing(self, name: str, cell: Any, missing: Collection[str]) -> bool:
        """Whether a cell is no value: nothing, or what the file or the reader calls missing."""
        text = value_text(cell)
        if text is None or text in missing:
            return True
        if isinstance(cell, str):
            return cell in (self.letters.get(name, []) or self.missing.get(name, []))
        return self.is_missing(name, float(cell))


def write_statistical(
    source: Source,
    ending: str,
    columns: Sequence[released_cells.ReleasedColumn],
    names: Sequence[str],
    records: NDArray[np.int64] | None,
    order: NDArray[np.int64] | None,
    stars: released_cells.SuppressedCells,
) -> Callable[[Any], object]:
    """Return what writes a release as a file of SPSS or Stata to an open file."""
    _require_pandas(source.name)
    is_spss = ending != ".dta"
    reader = source.reader
    original = None
    if isinstance(reader, StatisticalFile) and _is_own(reader, ending):
        original = reader.path
        frame, meta = _read(reader, is_spss=is_spss)
        if records is not None:
            frame = frame.iloc[records].reset_index(drop=True)
        frame = frame[list(names)].copy()
        new = {name: name for name in names}
    else:
        frame, meta, new = read_as_statistical(source, names, records, is_spss=is_spss)
    changed = _Changed(frame, meta, is_spss=is_spss)
    for column in columns:
        own = replace(column, name=new[column.name])
        _replace(changed, own, stars, source.decimal, source.missing)
    if order is not None:
        changed.frame = changed.frame.iloc[order].reset_index(drop=True)
    content = _bytes(changed, meta, ending, original)
    return lambda file: file.write(content)


def _is_own(reader: StatisticalFile, ending: str) -> bool:
    return reader.kind == ("stata" if ending == ".dta" else "spss") and reader.path.suffix != ".por"


def _read(reader: StatisticalFile, *, is_spss: bool) -> tuple[pd.DataFrame, Any]:
    import pyreadstat

    read = pyreadstat.read_sav if is_spss else pyreadstat.read_dta
    options: dict[str, Any] = {"encoding": reader.encoding} if reader.encoding else {}
    return read(str(reader.path), user_missing=True, disable_datetime_conversion=True, **options)


def _bytes(changed: _Changed, meta: Any, ending: str, original: Path | None) -> bytes:
    """Return the file as SPSS or Stata have it, without the time at which it is written."""
    import pyreadstat

    frame = changed.frame
    names = list(frame.columns)
    shared: dict[str, Any] = {
        "file_label": meta.file_label or "",
        "column_labels": [meta.column_names_to_labels.get(name) for name in names],
        "variable_value_labels": {
            n: own for n, own in changed.labels.items() if n in names and own
        },
        "variable_format": {n: own for n, own in changed.formats.items() if n in names},
    }
    folder = temporary_folder(None)
    try:
        made = folder / f"release{ending}"
        if changed.is_spss:
            header = None if original is None else read_header(original)
            rows = ending == ".sav" and (header is None or header.compression == 1)
            pyreadstat.write_sav(
                frame,
                str(made),
                note=list(meta.notes or []) or None,
                compress=ending == ".zsav",
                row_compress=rows,
                missing_ranges={n: own for n, own in changed.missing.items() if n in names and own},
                variable_measure={n: o for n, o in changed.measures.items() if n in names},
                variable_display_width={
                    n: o for n, o in meta.variable_display_width.items() if n in names
                },
                **shared,
            )
            weight = "" if header is None else header.weight
            return without_time(made.read_bytes(), weight)
        typed = _typed(changed, meta)
        shared["variable_value_labels"] = _typed_labels(shared["variable_value_labels"], typed)
        version = 15 if original is None else _stata_version(original)
        pyreadstat.write_dta(
            typed,
            str(made),
            version=version,
            missing_user_values={n: own for n, own in changed.letters.items() if own},
            **shared,
        )
        return _without_stata_time(made.read_bytes())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _stata_version(path: Path) -> int:
    with path.open("rb") as file:
        head = file.read(64)
    met = _RELEASE.search(head)
    # Older files begin with the number of their format as one byte.
    return _VERSIONS.get(int(met[1]) if met else head[0], 15 if met else 12)


def _without_stata_time(content: bytes) -> bytes:
    if content.startswith(b"<stata_dta>"):
        return _TIMESTAMP.sub(rb"\g<1>" + _FIXED_STATA_TIME + rb"\g<2>", content, count=1)
    made = bytearray(content)
    made[_OLD_TIME : _OLD_TIME + len(_FIXED_STATA_TIME)] = _FIXED_STATA_TIME
    return bytes(made)


def _replace(
    changed: _Changed,
    column: released_cells.ReleasedColumn,
    stars: released_cells.SuppressedCells,
    decimal: str,
    missing: Collection[str],
) -> None:
    name = column.name
    cells = changed.frame[name].to_numpy(dtype=object, copy=True)
    replaced = column.replaced
    if name in changed.texts:
        if column.codes is not None:
            texts = np.array(column.texts, dtype=object)
            cells[replaced] = texts[column.codes[replaced]]
    elif column.numbers is not None:
        cells[replaced] = column.numbers[replaced].astype(object)
    elif column.codes is not None and column.is_recoded:
        cells[replaced] = _recoded(changed, column, decimal)[column.codes[replaced]]
    elif column.codes is not None:
        new = floats_of(column.texts, decimal).astype(object)
        cells[replaced] = new[column.codes[replaced]]
    for place in np.flatnonzero(column.without):
        # A value that has no new category is not released as it was; one that means missing is.
        if not changed.means_missing(name, cells[place], missing):
            cells[place] = "" if name in changed.texts else np.nan
    if column.suppressed.any():
        cells[column.suppressed] = _star(changed, column, cells[~column.suppressed], stars)
    changed.frame[name] = _series(cells, is_text=name in changed.texts)


def _recoded(
    changed: _Changed, column: released_cells.ReleasedColumn, decimal: str
) -> NDArray[Any]:
    """Return a number for every new category, and give the variable their labels.

    A category that is a value of before, by its label or as a number, keeps its number, and one that is
    a number and more ("85+") has it; others have the first numbers that are free.
    """
    name = column.name
    old = changed.labels.get(name, {})
    kept = {
        value: label
        for value, label in old.items()
        if isinstance(value, str) or changed.is_missing(name, float(value))
    }
    known = {label: float(v) for v, label in old.items() if v not in kept}
    wanted: list[float | None] = []
    for text in column.texts[1:]:
        read = number_of(text.removesuffix("+"), decimal)
        number = known.get(text, None if read is None else float(read))
        is_free = number is not None and number not in wanted
        wanted.append(number if is_free and not changed.is_missing(name, number or 0.0) else None)
    numbers: list[float] = []
    candidate = 0
    for number in wanted:
        if number is None:
            candidate += 1
            while candidate in wanted or changed.is_missing(name, float(candidate)):
                candidate += 1
            number = float(candidate)
        numbers.append(number)
    fresh = {
        number: text
        for number, text in zip(numbers, column.texts[1:], strict=True)
        if value_text(number) != text
    }
    changed.labels[name] = {**fresh, **kept}
    if any(number is None for number in wanted):
        changed.formats[name] = "F8.0" if changed.is_spss else "%9.0g"
        # Numbers of bands are in order, and no amounts any more: nobody is to take their mean.
        if changed.measures.get(name) == "scale":
            changed.measures[name] = "ordinal"
    return np.array([np.nan, *numbers], dtype=object)


def _star(
    changed: _Changed,
    column: released_cells.ReleasedColumn,
    others: NDArray[Any],
    stars: released_cells.SuppressedCells,
) -> Any:
    """Return what a suppressed cell has, and declare it."""
    name, is_text = column.name, column.name in changed.texts
    if stars.look == released_cells.CellLook.EMPTY:
        return "" if is_text else np.nan
    if not changed.is_spss and stars.look == released_cells.CellLook.USER_MISSING:
        letter = stars.code if stars.code.isalpha() else "s"
        if is_text or len(letter) != 1:
            raise _no_user_missing(name, "Stata has such values for numbers only, as one letter.")
        if letter in others.tolist():
            raise released_cells.code_is_taken(name, f".{letter}")
        changed.letters.setdefault(name, [])
        changed.letters[name] = sorted({*changed.letters[name], letter})
        changed.labels.setdefault(name, {})[letter] = stars.label
        return letter
    value: Any = stars.code
    if not is_text:
        number = number_of(stars.code, ".")
        if number is None:
            raise InputError(
                Reason.BAD_OPTION,
                f"Suppressed cells of {quoted([name])} were to have the code {quoted([stars.code])}.",
                "The variable has numbers, and that is none.",
                "Give a number, such as -9.",
            )
        value = float(number)
    if value in others.tolist() or value in changed.labels.get(name, {}):
        raise released_cells.code_is_taken(name, stars.code)
    changed.labels.setdefault(name, {})[value] = stars.label
    if stars.look == released_cells.CellLook.USER_MISSING:
        declared = changed.missing.setdefault(name, [])
        n_taken = sum(
            2 if isinstance(own, Mapping) and own["lo"] != own["hi"] else 1 for own in declared
        )
        if n_taken >= _MOST_MISSING:
            raise _no_user_missing(name, "It has as many user-missing values as SPSS allows.")
        declared.append(value)
    return value


def _no_user_missing(name: str, found: str) -> InputError:
    return InputError(
        Reason.BAD_OPTION,
        f"Suppressed cells of {quoted([name])} were to be user-missing.",
        found,
        "Leave suppressed cells empty, or give them a code.",
    )


def _series(cells: NDArray[Any], *, is_text: bool) -> Any:
    import pandas as pd

    if is_text or any(isinstance(cell, str) for cell in cells):
        return pd.Series(cells, dtype=object)
    return pd.Series(cells.astype(np.float64))


def _typed(changed: _Changed, meta: Any) -> pd.DataFrame:
    """Return the frame with the types of numbers that the Stata file has, where they still fit."""
    frame = changed.frame.copy()
    for name in frame.columns:
        kind = _TYPES.get(meta.readstat_variable_types.get(name, ""))
        cells = frame[name]
        if kind is None or name in changed.texts or cells.dtype == object:
            continue
        numbers = cells.to_numpy(dtype=np.float64)
        known = numbers[np.isfinite(numbers)]
        if kind == "float32":
            if np.array_equal(known.astype(np.float32).astype(np.float64), known):
                frame[name] = cells.astype("float32")
        elif np.array_equal(known, np.round(known)) and (np.abs(known) < 2**31 - 30).all():
            frame[name] = cells.astype("Int32")
    return frame


def _typed_labels(
    labels: Mapping[str, Mapping[Any, str]], frame: pd.DataFrame
) -> dict[str, dict[Any, str]]:
    """Return labels whose values are whole numbers where the column has these."""
    return {
        name: {
            int(value)
            if str(frame[name].dtype) == "Int32" and not isinstance(value, str)
            else value: label
            for value, label in own.items()
        }
        for name, own in labels.items()
    }


def _require_pandas(name: str) -> None:
    if find_spec("pandas") is None:
        raise InputError(
            Reason.MISSING_PACKAGE,
            f"A release of {quoted([name])} was to be written.",
            "The package pandas, by which files of SPSS and Stata are written, is not installed.",
            "Install 'gamekeeper[frames]', or write .csv or .parquet.",
        )
