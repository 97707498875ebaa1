"""The text of typed values: one way to write a value, whatever kind of file it comes from.

Whole numbers are written without a point, so that 1.0 of SPSS, 1 of Parquet and "1" of a text
file are the same value. Spaces around a text do not count. Nothing, an empty text and "not a
number" are no values.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from gamekeeper.data.reading.column import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = 1e18
_SECONDS_A_DAY = 86_400
# From the second day of the year 1 to the last but one of 9999, so that zones do not matter.
_FIRST = (dt.date(1, 1, 2) - dt.date(1970, 1, 1)).days * _SECONDS_A_DAY
_LAST = (dt.date(9999, 12, 31) - dt.date(1970, 1, 1)).days * _SECONDS_A_DAY


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of texts."""
    import pyarrow as pa

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

    Parameters
    ----------
    values
        Values of any type whose kind is not `OTHER`; not dictionary-encoded.
    digits
        The least number of digits of whole numbers, for columns shown with leading zeros.
    """
    import pyarrow as pa

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
    import pyarrow as pa

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

    Examples
    --------
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
