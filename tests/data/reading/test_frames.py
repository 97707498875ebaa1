"""Frames of every library: what is read, in which order, and what is refused without a value."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gamekeeper.data.coding.source_coding import code_frame, code_source
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason

CANARY = "CANARY-7341"
ANY = uuid.UUID("0e8c5c3e-0000-4000-8000-0000000000aa")
NESTED = {"list": [CANARY], "dict": {CANARY: 1}}


def series(cells, kind):
    return pd.DataFrame({"a": pd.Series(cells, dtype=kind)})


def polars(cells, kind=None):
    return pl.DataFrame({"a": pl.Series("a", cells, dtype=kind)})


def duck(expression):
    return duckdb.connect().sql(f"SELECT {expression} AS a")


def rows(*expressions):
    return duckdb.connect().sql(" UNION ALL ".join(f"SELECT {one} AS a" for one in expressions))


ORDER = ["low", "middle", "high"]
CUT = pd.cut([5, 1, 120, np.nan], [0, 3, 20, 200])
DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), pa.array(ORDER))
ORDERED = pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), pa.array(ORDER), ordered=True)

# What is read: the values of the codebook, in the order of their codes.
READ = {
    "cut": (lambda: pd.DataFrame({"a": CUT}), ["(0, 3]", "(3, 20]", "(20, 200]"]),
    "cut, half": (lambda: pd.DataFrame({"a": pd.cut([1], [0.5, 1.5])}), ["(0.5, 1.5]"]),
    "cut, labels": (
        lambda: pd.DataFrame({"a": pd.cut([9, 1, 5], [0, 3, 6, 10], labels=ORDER)}),
        ORDER,
    ),
    "qcut": (lambda: pd.DataFrame({"a": pd.qcut([1, 2, 30, 40], 2)}), ["(0.999, 16]", "(16, 40]"]),
    "cut, dates": (
        lambda: pd.DataFrame(
            {"a": pd.cut(pd.to_datetime(["2031-05-01"]), pd.to_datetime(["2031-01-01", "2032-01-01"]))}
        ),
        ["(2031-01-01, 2032-01-01]"],
    ),
    "intervals": (
        lambda: pd.DataFrame({"a": pd.arrays.IntervalArray.from_breaks([10, 20], closed="left")}),
        ["[10, 20)"],
    ),
    "intervals in order": (
        lambda: pd.DataFrame({"a": pd.arrays.IntervalArray.from_tuples([(10, 20), (5, 10)])}),
        ["(5, 10]", "(10, 20]"],
    ),
    "unordered intervals": (
        lambda: pd.DataFrame(
            {"a": pd.Categorical(pd.arrays.IntervalArray.from_tuples([(10, 20), (5, 10)]))}
        ),
        ["(5, 10]", "(10, 20]"],
    ),
    "periods": (
        lambda: pd.DataFrame({"a": pd.period_range("2031-11", periods=3, freq="M")}),
        ["2031-11", "2031-12", "2032-01"],
    ),
    "categorical": (lambda: series(["y", None, "x"], "category"), ["x", "y"]),
    "categorical of numbers": (lambda: series([10.0, 9.0, 2.5], "category"), ["2.5", "9", "10"]),
    "categorical of anything": (lambda: series([3, "x", True], "category"), ["3", "true", "x"]),
    "categorical of dates": (
        lambda: series(pd.to_datetime(["2031-05-02", "2031-05-01"]), "category"),
        ["2031-05-01", "2031-05-02"],
    ),
    "ordered": (lambda: series(["high", "low", None], pd.CategoricalDtype(ORDER, True)), ["low", "high"]),
    "unused categories": (lambda: series(["low"], pd.CategoricalDtype(ORDER)), ["low"]),
    "Int64": (lambda: series([10, None, 9], "Int64"), ["9", "10"]),
    "Float64": (lambda: series([1.5, None, 2.0], "Float64"), ["1.5", "2"]),
    "boolean": (lambda: series([True, None, False], "boolean"), ["false", "true"]),
    "string": (lambda: series(["x", None, " y "], "string"), ["x", "y"]),
    "string of Python": (lambda: series(["x", None], "string[python]"), ["x"]),
    "string of Arrow": (lambda: series(["x", None], "string[pyarrow]"), ["x"]),
    "Arrow in pandas": (lambda: series(["x", None], pd.ArrowDtype(pa.string())), ["x"]),
    "Arrow dictionary in pandas": (
        lambda: series(["x", None], pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
        ["x"],
    ),
    "sparse": (lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1])}), ["0", "1"]),
    "objects": (lambda: series([1, "x", None, 2.5, Decimal("7.50")], object), ["1", "2.5", "7.5", "x"]),
    "identifiers": (lambda: series([ANY, None], object), [str(ANY)]),
    "Polars categorical": (lambda: polars(["y", "x", None], pl.Categorical), ["x", "y"]),
    "Polars enum": (lambda: polars(["high", "low", None], pl.Enum(ORDER)), ["low", "high"]),
    "Polars objects": (lambda: polars(["x", 1, None], pl.Object), ["1", "x"]),
    "Polars long numbers": (lambda: polars([2, 10], pl.Int128), ["2", "10"]),
    "Polars lazy": (lambda: polars(["high", "low"], pl.Enum(ORDER)).lazy(), ["low", "high"]),
    "Arrow dictionary": (lambda: pa.table({"a": DICTIONARY}), ["high", "low"]),
    "Arrow ordered": (lambda: pa.table({"a": ORDERED}), ["low", "high"]),
    "Arrow ordered, a stream": (lambda: pa.table({"a": ORDERED}).to_reader(), ["low", "high"]),
    "Arrow runs": (lambda: pa.table({"a": pa.RunEndEncodedArray.from_arrays([2, 3], [5, 4])}), ["4", "5"]),
    "Arrow identifiers": (lambda: pa.table({"a": pa.array([ANY.bytes, None], pa.uuid())}), [str(ANY)]),
    "DuckDB": (lambda: rows("'y'", "NULL", "'x'"), ["x", "y"]),
    "DuckDB enum": (
        lambda: rows(*(f"'{name}'::ENUM('low', 'middle', 'high')" for name in ("high", "low"))),
        ["low", "high"],
    ),
    "DuckDB long numbers": (lambda: rows("2::HUGEINT", "10::HUGEINT"), ["2", "10"]),
    "DuckDB identifiers": (lambda: duck(f"'{ANY}'::UUID"), [str(ANY)]),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_what_is_read_and_in_which_order(case):
    make, values = READ[case]
    coded = code_frame(make())
    assert coded.codebook["a"].values == ("", *values)
    assert set(coded.codes("a").tolist()) >= set(range(1, len(values) + 1))


def test_cells_keep_their_categories():
    coded = code_frame(pd.DataFrame({"a": CUT}))
    assert [coded.codebook["a"].words[code] for code in coded.codes("a")] == [
        "(3, 20]", "(0, 3]", "(20, 200]", "missing",
    ]  # fmt: skip
    assert coded.codebook["a"].order == ("(0, 3]", "(3, 20]", "(20, 200]")


def test_categories_of_numbers_are_numbers_where_they_are_to_be():
    weights = pd.DataFrame({"a": ["x", "y"], "w": pd.Categorical([2.5, 10.0])})
    assert code_frame(weights, numbers=["w"]).number("w").tolist() == [2.5, 10.0]


def test_a_frame_is_opened_like_a_file():
    source = open_source(pd.DataFrame({"a": ["x", "-9"], "b": [1, 2]}), missing=["-9"])
    assert (source.name, source.kind, source.path, source.names) == (
        "data frame", "frame", None, ("a", "b"),
    )  # fmt: skip
    assert source.n_records == 2
    assert repr(source) == "Source('data frame', frame, 2 columns)"
    coded = code_source(source, ["a"])
    assert coded.codes("a").tolist() == [1, 0]
    assert coded.fingerprint == code_frame(pa.table({"a": ["x", None]})).fingerprint


def test_a_frame_may_be_read_more_than_once():
    reader = pa.table({"a": [1], "b": [2]}).to_reader()
    source = open_source(reader)
    assert [code_source(source, [name]).n_records for name in "ab"] == [1, 1]


def test_columns_of_duckdb_that_differ_in_case_alone():
    frame = duckdb.connect().sql('SELECT 1 AS a, 2 AS "A", 3 AS b')
    assert code_frame(frame, ["A"]).codebook["A"].values == ("", "2")
    assert code_frame(frame, ["a", "b"]).codebook["a"].values == ("", "1")


def twice(kind):
    arrow = pa.Table.from_arrays([pa.array([1]), pa.array([CANARY]), pa.array([3])], list("aba"))
    return {
        "pandas": lambda: pd.DataFrame([[1, CANARY, 3]], columns=list("aba")),
        "Arrow": lambda: arrow,
        "a stream": arrow.to_reader,
        "a batch": lambda: arrow.to_batches()[0],
        "DuckDB": lambda: duckdb.connect().sql(f"SELECT 1 AS a, '{CANARY}' AS b, 3 AS a"),
    }[kind]()


PAIRS = pd.MultiIndex.from_tuples([(CANARY, 1), (CANARY, 2)], names=["place", None])
HOLDS = "'a': It holds objects of type "
IS = "'a': It is of type "
# What is refused: the frame, the reason, and what is said.
REFUSED = {
    **{
        f"a name twice, {kind}": (lambda kind=kind: twice(kind), Reason.DUPLICATE, "same name: 'a'.")
        for kind in ("pandas", "Arrow", "a stream", "a batch", "DuckDB")
    },
    "columns on two levels": (
        lambda: pd.DataFrame([[1, 2]], columns=PAIRS), Reason.BAD_NAME, "of its columns have 2 levels",
    ),
    "rows on two levels": (
        lambda: pd.DataFrame({"a": [1, 2]}, index=PAIRS), Reason.BAD_NAME, "MultiIndex of 'place'",
    ),
    "numbers for names": (lambda: pd.DataFrame([[1, CANARY]]), Reason.BAD_NAME, "of type int."),
    **{
        f"{what} in pandas": (lambda cell=cell: series([cell], object), Reason.WRONG_SCHEMA, f"{HOLDS}{what}.")
        for what, cell in {**NESTED, "set": {CANARY}, "tuple": (CANARY,), "bytes": CANARY.encode()}.items()
    },
    "some lists": (lambda: series([CANARY, [CANARY]], object), Reason.WRONG_SCHEMA, f"{HOLDS}list."),
    "lists of Arrow in pandas": (
        lambda: series([[CANARY]], pd.ArrowDtype(pa.list_(pa.string()))), Reason.WRONG_SCHEMA, f"{IS}list.",
    ),
    "tuples as categories": (
        lambda: pd.DataFrame({"a": pd.Categorical.from_codes([0], [(CANARY, 1)])}),
        Reason.WRONG_SCHEMA, f"{HOLDS}tuple.",
    ),
    "complex numbers": (lambda: series([1j], complex), Reason.WRONG_SCHEMA, f"{HOLDS}complex."),
    "time spans": (lambda: series([dt.timedelta(7341)], None), Reason.WRONG_SCHEMA, f"{IS}duration["),
    "intervals of time spans": (
        lambda: pd.DataFrame({"a": pd.arrays.IntervalArray.from_breaks(pd.to_timedelta([0, 7341]))}),
        Reason.WRONG_SCHEMA, f"{HOLDS}Interval.",
    ),
    "lists in Polars": (lambda: polars([[CANARY]]), Reason.WRONG_SCHEMA, f"{IS}large_list."),
    "structs in Polars": (lambda: polars([{CANARY: 1}]), Reason.WRONG_SCHEMA, f"{IS}struct."),
    "objects in Polars": (lambda: polars([NESTED], pl.Object), Reason.WRONG_SCHEMA, f"{HOLDS}dict."),
    "time spans in Polars": (lambda: polars([dt.timedelta(7341)]), Reason.WRONG_SCHEMA, f"{IS}duration["),
    "bytes in Polars": (lambda: polars([CANARY.encode()]), Reason.WRONG_SCHEMA, f"{IS}large_binary."),
    "lists in Arrow": (lambda: pa.table({"a": [[CANARY]]}), Reason.WRONG_SCHEMA, f"{IS}list."),
    "structs in Arrow": (lambda: pa.table({"a": [{CANARY: 1}]}), Reason.WRONG_SCHEMA, f"{IS}struct."),
    "a dictionary of lists": (
        lambda: pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[CANARY]]))}),
        Reason.WRONG_SCHEMA, f"{IS}dictionary of list.",
    ),
    "lists in DuckDB": (lambda: duck(f"['{CANARY}']"), Reason.WRONG_SCHEMA, f"{IS}list."),
    "structs in DuckDB": (lambda: duck(f"{{'{CANARY}': 1}}"), Reason.WRONG_SCHEMA, f"{IS}struct."),
    "bytes in DuckDB": (lambda: duck(f"'{CANARY}'::BLOB"), Reason.WRONG_SCHEMA, f"{IS}binary."),
    "a generator": (lambda: (cell for cell in [CANARY]), Reason.WRONG_SCHEMA, "of type generator"),
    "a generator of batches": (
        lambda: iter(pa.table({"a": [CANARY]}).to_batches()), Reason.WRONG_SCHEMA, "Collect what it gives",
    ),
    "a list": (lambda: [{"a": CANARY}], Reason.WRONG_SCHEMA, "of type list"),
    "a dict": (lambda: {"a": [CANARY]}, Reason.WRONG_SCHEMA, "of type dict"),
    "an array": (lambda: np.array([[CANARY]]), Reason.WRONG_SCHEMA, "of type ndarray"),
    "a series": (lambda: pd.Series([CANARY], name="a"), Reason.WRONG_SCHEMA, "to_frame()"),
    "a series of Polars": (lambda: pl.Series("a", [CANARY]), Reason.WRONG_SCHEMA, "to_frame()"),
    "an array of Arrow": (lambda: pa.chunked_array([[CANARY]]), Reason.WRONG_SCHEMA, "of type ChunkedArray"),
    "a path": (lambda: f"{CANARY}.csv", Reason.WRONG_SCHEMA, "open_source"),
    "a connection": (duckdb.connect, Reason.WRONG_SCHEMA, "of type DuckDBPyConnection"),
    "nothing": (lambda: None, Reason.WRONG_SCHEMA, "of type NoneType"),
    "a failing query": (
        lambda: duck(f"CAST('{CANARY}' AS INTEGER)"), Reason.NOT_READABLE, "(ConversionException)",
    ),
    "a failing lazy frame": (
        lambda: polars([CANARY]).lazy().select(pl.col("a").cast(pl.Int64)),
        Reason.NOT_READABLE, "The query behind it failed",
    ),
    "a lazy frame that cannot be": (
        lambda: polars([CANARY]).lazy().select(pl.col("b")), Reason.NOT_READABLE, "The query behind it failed",
    ),
    **{
        f"no columns, {kind.__module__.partition('.')[0]}": (kind, Reason.NOTHING_GIVEN, "It has no columns.")
        for kind in (pd.DataFrame, pl.DataFrame, lambda: pa.table({}))
    },
    **{
        f"no rows, {name}": (make, Reason.NOTHING_GIVEN, "There are no records.")
        for name, make in {
            "pandas": lambda: pd.DataFrame({"a": [], "b": []}),
            "Polars": lambda: pl.DataFrame({"a": [], "b": []}),
            "Arrow": lambda: pa.table({"a": pa.array([], pa.string())}),
            "DuckDB": lambda: duckdb.connect().sql(f"SELECT '{CANARY}' AS a WHERE false"),
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_and_how(case):
    make, reason, said = REFUSED[case]
    with pytest.raises(InputError) as caught:
        code_frame(make())
    error = caught.value
    assert error.reason is reason
    assert said in str(error)
    for text in (str(error), repr(error), str(error.__cause__), str(error.__context__)):
        assert "CANARY" not in text
        assert "7341" not in text


def test_all_columns_that_cannot_be_read_are_named_at_once():
    frame = pd.DataFrame({"a": [[CANARY]], "b": [1], "c": [{CANARY}], "d": [dt.timedelta(1)]})
    with pytest.raises(InputError, match="3 columns cannot be read") as caught:
        code_frame(frame)
    assert [problem.where for problem in caught.value.problems] == [
        "column 'a'", "column 'c'", "column 'd'",
    ]  # fmt: skip
    assert code_frame(frame, ["b"]).n_records == 1


@pytest.mark.parametrize("kind", ["pandas", "Polars", "lazy", "Arrow", "DuckDB"])
def test_keys_that_are_no_columns_are_told_with_near_ones(kind):
    table = pa.table({"age": [CANARY], "sex": ["f"]})
    frame = {
        "pandas": table.to_pandas, "Polars": lambda: pl.from_arrow(table), "Arrow": lambda: table,
        "lazy": lambda: pl.from_arrow(table).lazy(), "DuckDB": lambda: duckdb.from_arrow(table),
    }[kind]()  # fmt: skip
    with pytest.raises(InputError) as caught:
        code_frame(frame, ["agee", "sex"])
    assert caught.value.reason is Reason.UNKNOWN_NAME
    assert "column 'agee': It is not in the data. Near to it: 'age'." in str(caught.value)
    assert CANARY not in str(caught.value)


def test_the_index_is_no_column():
    frame = pd.DataFrame({"person": [1, 2], "age": [3, 4]}).set_index("person")
    with pytest.raises(InputError, match=r"'person': It is not in the data\. It is the index"):
        code_frame(frame, ["person", "age"])
    assert code_frame(frame).codebook.names == ("age",)
