from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from gamekeeper.data.reading.columns import ColumnKind, kind_of, value_text, value_texts


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        ([1, -2, None], pa.int8(), ["1", "-2", None]),
        ([2**64 - 1], pa.uint64(), ["18446744073709551615"]),
        ([1.0, 2.5, -0.0, float("nan"), None], pa.float64(), ["1", "2.5", "0", None, None]),
        ([1e-7, 1e22, 0.1], pa.float64(), ["1e-07", "1e+22", "0.1"]),
        ([0.1, 1.0, 16777216.0], pa.float32(), ["0.1", "1", "16777216"]),
        ([" 007 ", "", "  ", None, "a b"], pa.string(), ["007", None, None, None, "a b"]),
        (["x"], pa.large_string(), ["x"]),
        ([True, False, None], pa.bool_(), ["true", "false", None]),
        ([Decimal("1.50"), Decimal("2.00"), Decimal("-10")], pa.decimal128(9, 2),
         ["1.5", "2", "-10"]),
        ([Decimal("100")], pa.decimal128(9, 0), ["100"]),
        ([dt.date(2020, 1, 31), None], pa.date32(), ["2020-01-31", None]),
        ([dt.datetime(2020, 1, 31)], pa.timestamp("ns"), ["2020-01-31"]),  # noqa: DTZ001
        ([dt.datetime(2020, 1, 31, 7, 5)], pa.timestamp("s"), ["2020-01-31 07:05:00"]),  # noqa: DTZ001
        ([dt.time(7, 5)], pa.time64("ns"), ["07:05:00"]),
        ([None], pa.null(), [None]),
    ],
)  # fmt: skip
def test_a_value_has_one_text_whatever_its_type(values, kind, texts):
    assert value_texts(pa.array(values, kind)) == texts


def test_leading_zeros_of_a_format_are_written():
    assert value_texts(pa.array([7.0, 1234.0, 1.5]), digits=3) == ["007", "1234", "1.5"]
    assert value_text(-7, digits=3) == "-07"


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (pa.string_view(), ColumnKind.TEXT),
        (pa.null(), ColumnKind.TEXT),
        (pa.dictionary(pa.int8(), pa.int64()), ColumnKind.NUMBER),
        (pa.decimal256(40, 2), ColumnKind.NUMBER),
        (pa.bool_(), ColumnKind.TRUTH),
        (pa.date64(), ColumnKind.DATE),
        (pa.list_(pa.int8()), ColumnKind.OTHER),
        (pa.struct([("a", pa.int8())]), ColumnKind.OTHER),
        (pa.binary(), ColumnKind.OTHER),
    ],
)
def test_kinds(kind, found):
    assert kind_of(kind) is found


def test_other_objects_have_no_text():
    with pytest.raises(TypeError, match="a list has no text"):
        value_text([1])


def test_moments_that_differ_have_texts_that_differ():
    second = pa.array([0, 1, 999, 1_000, 10**9, 2**62], pa.timestamp("ns"))
    texts = value_texts(second)
    assert len(set(texts)) == 6
    assert texts[0] == "1970-01-01"
    assert texts[1] == "1970-01-01 00:00:00.000000001"
    assert texts[3] == "1970-01-01 00:00:00.000001"
    of_day = value_texts(pa.array([0, 1, 1_000, None], pa.time64("ns")))
    assert of_day == ["00:00:00", "00:00:00.000000001", "00:00:00.000001", None]


def test_moments_beyond_python_are_written_in_full():
    assert value_texts(pa.array([2**40], pa.timestamp("s"))) == ["36812-02-20 00:36:16"]
    assert value_texts(pa.array([2**40], pa.timestamp("s", "Asia/Tokyo"))) == [
        "36812-02-20 00:36:16+00:00"
    ]
    assert value_texts(pa.array([-(10**6), 0], pa.date32())) == ["-768-02-04", "1970-01-01"]
