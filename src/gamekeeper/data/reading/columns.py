"""Columns of data files and their values: names as people type them, numbers and texts, read exactly.

There is one way to write a value, whatever kind of file it comes from. Whole numbers are written
without a point, so that 1.0 of SPSS, 1 of Parquet and "1" of a text file are the same value. Spaces
around a text do not count. Nothing, an empty text and "not a number" are no values. A name may be
written in any case, as long as one column is meant.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from gamekeeper.arrow import pa
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import did_you_mean, quoted


class ColumnKind(StrEnum):
    """What the cells of a column are in the file."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TRUTH = "yes or no"
    OTHER = "other"


@dataclass(frozen=True, repr=False)
class Column:
    """A column of a data file.

    - `name`, `label`: the name of the column, and what the file says about it, if anything.
    - `labels`: the words that the file has for values, by the value as text.
    - `digits`: the number of digits with which the file shows whole numbers, for columns with
      leading zeros; 0 for all others.
    - `order`: the values as text in the order that they have where they come from; none for columns
      whose values are ordered by their size or their text.
    """

    name: str
    label: str = ""
    kind: ColumnKind = ColumnKind.TEXT
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    digits: int = 0
    order: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Column({quoted([self.name])}, {self.kind.value}, {len(self.labels)} value labels)"


def unreadable(
    path: str | os.PathLike[str], found: str, do: str, reason: Reason = Reason.MALFORMED
) -> InputError:
    """Return the error for a data file that cannot be read."""
    name = quoted([Path(path).name])
    return InputError(reason, f"Data file {name} was to be read.", found, do)


def matched_name(name: str, known: Sequence[str]) -> str:
    """Return the name of a column as the data has it.

    >>> matched_name("age", ["AGE", "Sex"])
    'AGE'
    """
    near = [name] if name in known else like(name, known)
    if len(near) == 1:
        return near[0]
    problem = Problem(
        Reason.UNKNOWN_NAME,
        f"column {quoted([name])}",
        f"It could be any of {quoted(near)}." if near else "It is not in the data.",
        "Write it exactly." if near else did_you_mean(name, known),
    )
    raise InputError(
        Reason.UNKNOWN_NAME,
        "A column was asked for.",
        problem.found,
        problem.do,
        problems=[problem],
    )


def matched_names(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return names as the data has them; those that mean no column, or several, as they are.

    >>> matched_names(["age", "sex", "job"], ["AGE", "Sex", "SEX"])
    ('AGE', 'sex', 'job')
    """
    exact = set(known)
    found: list[str] = []
    for name in names:
        near = [] if name in exact else like(name, known)
        found.append(near[0] if len(near) == 1 else name)
    return tuple(found)


def like(name: str, known: Sequence[str]) -> list[str]:
    """Return the names that are the same but for their case."""
    asked = name.strip().casefold()
    return [other for other in known if other.casefold() == asked]


_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)

# Brackets, notes and the name of what is counted: '(<5)', '<5*', 'n < 5', 'suppressed: 1-4'.
_AROUND = re.compile(r"^(?:(?:n|count|suppressed|hidden)\b)?[\s:\[(*]*|[\s\])*]*$")
_BELOW = re.compile(
    r"(?:<|less than|fewer than|under|below|unter|weniger als|moins de|menos de)\s*(\d.*)"
)
_AT_MOST = re.compile(
    r"(?:<=|=<|≤|⩽|≦|up to|at most|no more than|not more than|max\.?|maximum|bis zu|bis)\s*(\d.*)"
)
_OR_FEWER = re.compile(r"(\d[\d.,]*)\s*(?:or|and)\s*(?:fewer|less|under|below|lower)")
_BETWEEN = re.compile(
    r"(?:between\s+|from\s+)?(\d[\d.,]*)\s*(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|\u2212|to|and|bis|\.\.\.?|…)\s*(\d[\d.,]*)"
)
_ABOVE = re.compile(r"(?:>|more than|greater than|over|above|über|mehr als|plus de)\s*(\d.*)")
_AT_LEAST = re.compile(
    r"(?:>=|=>|≥|⩾|≧|at least|from|no fewer than|not less than|min\.?|ab)\s*(\d.*)"
)
_OR_MORE = re.compile(r"(\d[\d.,]*)\s*(?:\+|(?:or|and)\s*(?:more|over|above|greater|higher))")
# Which group of each pattern is the least, and which the largest; 0 for none.
_LIMITS = (
    (_BELOW, 0, 1), (_AT_MOST, 0, 1), (_OR_FEWER, 0, 1), (_BETWEEN, 1, 2), (_ABOVE, 1, 0),
    (_AT_LEAST, 1, 0), (_OR_MORE, 1, 0),
)  # fmt: skip
_LIKE_A_LIMIT = re.compile(
    r"[<>≤≥⩽⩾≦≧]|\b(?:than|under|below|over|above|most|least|fewer|less|more|up to)\b"
)
_NUMBER_IN = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b"
)

# Python refuses to read longer ones.
_LONGEST = 4_000
_LONGEST_LIMIT = 80


def number_of(text: str, decimal: str = ".") -> Fraction | None:
    """Return the number that a value is written as, exactly; None when it is not a number.

    - `text`: a value as text. Spaces around it do not matter; thousands are not grouped.
    - `decimal`: the decimal mark of the file, `.` or `,`. The other mark is not read: it may group digits.

    >>> number_of("007"), number_of("1,5", ","), number_of("1,5")
    (Fraction(7, 1), Fraction(3, 2), None)
    """
    bare = text.strip()
    if decimal == ",":
        bare = bare.replace(".", " ").replace(",", ".")
    is_number = len(bare) <= _LONGEST and _NUMBER.fullmatch(bare)
    return Fraction(bare) if is_number else None


def float_of(number: Fraction) -> float:
    """Return a number as a float; one that is too large for it is infinite, as its text would be."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Limits:
    """What a text such as '<5' says of a number; None where it says nothing.

    - `low`, `high`: the least and the largest number.
    - `is_above`, `is_below`: whether the number is above the one, and below the other, and not equal to it.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    is_above: bool = False
    is_below: bool = False

    def of_whole(self) -> tuple[int | None, int | None]:
        """Return the least and the largest whole number."""
        low, high = self.low, self.high
        least = None if low is None else math.floor(low) + 1 if self.is_above else math.ceil(low)
        most = None if high is None else math.ceil(high) - 1 if self.is_below else math.floor(high)
        return least, most


def limits_of(text: str, decimal: str = ".") -> Limits | None:
    """Return the limits that a text gives in place of a number; None where it gives none.

    Limits that cannot be read are a `ValueError`.

    >>> limits_of("<5").of_whole(), limits_of("1-4").of_whole(), limits_of("5 or fewer").of_whole()
    ((None, 4), (1, 4), (None, 5))
    >>> limits_of("5"), limits_of("North")
    (None, None)
    """
    bare = " ".join(text.casefold().split())
    is_short = len(bare) <= _LONGEST_LIMIT
    bare = _AROUND.sub("", bare) if is_short else bare
    if number_of(bare, decimal) is not None:
        return None
    for pattern, of_low, of_high in _LIMITS if is_short else ():
        match = pattern.fullmatch(bare)
        if match is None:
            continue
        low, high = (_grouped(match[own], decimal) if own else None for own in (of_low, of_high))
        is_read = (low is not None or not of_low) and (high is not None or not of_high)
        made = Limits(low, high, pattern is _ABOVE, pattern is _BELOW)
        if not is_read or (low is not None and high is not None and low > high):
            raise ValueError
        return made
    if _LIKE_A_LIMIT.search(bare) and _NUMBER_IN.search(bare):
        raise ValueError
    return None


def may_be_limit(text: str, decimal: str = ".") -> bool:
    """Whether a text that is no number has one in it, so that it may tell a limit in words unknown here.

    >>> may_be_limit("LT5"), may_be_limit("one to four"), may_be_limit("c"), may_be_limit("-99")
    (True, True, False, False)
    """
    return number_of(text, decimal) is None and bool(_NUMBER_IN.search(text.casefold()))


def _grouped(text: str, decimal: str) -> Fraction | None:
    """Return a number whose thousands may be grouped."""
    mark = r"[, \u2009\u202f]" if decimal == "." else r"[. \u2009\u202f]"
    is_grouped = re.fullmatch(rf"\d{{1,3}}(?:{mark}\d{{3}})+", text)
    return number_of(re.sub(mark, "", text) if is_grouped else text, decimal)


def floats_of(texts: Iterable[str], decimal: str) -> NDArray[np.float64]:
    """Return the numbers that values are written as, NaN where one is not a number."""
    read = (number_of(text, decimal) for text in texts)
    return np.array([np.nan if number is None else float_of(number) for number in read])


_WHOLE = 1e18
_SECONDS_A_DAY = 86_400
# From the second day of the year 1 to the last but one of 9999, so that zones do not matter.
_FIRST = (dt.date(1, 1, 2) - dt.date(1970, 1, 1)).days * _SECONDS_A_DAY
_LAST = (dt.date(9999, 12, 31) - dt.date(1970, 1, 1)).days * _SECONDS_A_DAY


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of texts."""
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def kind_of(kind: pa.DataType) -> ColumnKind:
    """Return what the cells of an Arrow type are."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if is_text(kind) or types.is_null(kind):
        return ColumnKind.TEXT
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return ColumnKind.NUMBER
    if types.is_boolean(kind):
        return ColumnKind.TRUTH
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind):
        return ColumnKind.DATE
    return ColumnKind.OTHER


def type_name(kind: pa.DataType) -> str:
    """Return the name of an Arrow type without its details: names of fields are part of them."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return f"dictionary of {type_name(kind.value_type)}"
    return str(kind).partition("<")[0]


def value_texts(values: pa.Array, digits: int = 0) -> list[str | None]:
    """Return the text of every value, None for what is no value.

    - `values`: values of any type whose kind is not `OTHER`; not dictionary-encoded.
    - `digits`: the least number of digits of whole numbers, for columns shown with leading zeros.
    """
    if kind_of(values.type) is ColumnKind.DATE:
        return _moment_texts(values)
    listed: list[Any] = values.to_pylist()
    if pa.types.is_float32(values.type) or pa.types.is_float16(values.type):
        # The shortest text of a short float, not that of the long one that Python makes of it.
        short = np.float32 if pa.types.is_float32(values.type) else np.float16
        listed = [None if value is None else float(str(short(value))) for value in listed]
    return [value_text(value, digits) for value in listed]


def _moment_texts(values: pa.Array) -> list[str | None]:
    """Return the texts of dates and times, also of those that Python's own types do not reach.

    These know the years 1 to 9999 and microseconds. Other moments are written as numpy does, in
    UTC: moments that differ must not look the same.
    """
    kind = values.type
    if pa.types.is_date64(kind):
        values, kind = values.cast(pa.date32(), safe=False), pa.date32()
    is_day = pa.types.is_date32(kind)
    unit = "D" if is_day else str(kind.unit)
    per_second = {"D": 1, "s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    ticks = values.cast(pa.int32() if is_day or pa.types.is_time32(kind) else pa.int64())
    seconds = _SECONDS_A_DAY if is_day else 1
    known = [
        tick is not None
        and _FIRST <= tick * seconds // per_second < _LAST
        and (unit != "ns" or tick % 1000 == 0)
        for tick in ticks.to_pylist()
    ]
    fine = values.filter(pa.array(known, pa.bool_()))
    if unit == "ns":
        is_time = pa.types.is_time64(kind)
        fine = fine.cast(pa.time64("us") if is_time else pa.timestamp("us", kind.tz))
    texts = iter([value_text(value) for value in fine.to_pylist()])
    zone = "+00:00" if pa.types.is_timestamp(kind) and kind.tz else ""

    def beyond(tick: int) -> str:
        moment = str(np.int64(tick).astype(f"datetime64[{unit}]")).replace("T", " ") + zone
        return moment.partition(" ")[2] if pa.types.is_time(kind) else moment

    return [
        next(texts) if is_known else None if tick is None else beyond(tick)
        for tick, is_known in zip(ticks.to_pylist(), known, strict=True)
    ]


def value_text(value: Any, digits: int = 0) -> str | None:
    """Return the text of one Python value, None when it is none.

    >>> value_text(1.0), value_text(" 007 "), value_text(2.50), value_text(7, digits=3)
    ('1', '007', '2.5', '007')
    >>> value_text(float("nan")) is None, value_text("") is None
    (True, True)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:0{digits}d}"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        whole = abs(value) < _WHOLE and value.is_integer()
        return f"{int(value):0{digits}d}" if whole else repr(value)
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, dt.datetime):
        midnight = value.tzinfo is None and value.time() == dt.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no text")
