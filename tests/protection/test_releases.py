"""Verbatim copies, against a comparison of every record with every other."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.data.reading.source import open_source
from gamekeeper.protection.releases import Copies, count_copies

NAMES = ("age", "sex", "job")
ROWS = st.lists(st.tuples(*[st.sampled_from([None, "1", "2", "x "])] * 3), min_size=1, max_size=8)


def frame(rows):
    columns = zip(*rows, strict=True)
    return open_source(pa.table([pa.array(c, pa.string()) for c in columns], NAMES))


def pairs(*names):
    return [(name, name) for name in names]


@given(ROWS, ROWS)
def test_copies_are_those_of_comparing_all_with_all(original, released):
    found = count_copies(
        frame(original), frame(released), pairs(*NAMES), pairs("age", "sex"), pairs("job")
    )

    def count(places):
        there = [tuple(row[c] for c in places) for row in original]
        return sum(tuple(row[c] for c in places) in there for row in released)

    whole = count((0, 1, 2))
    assert found == Copies(len(released), 3, whole, count((0, 1)), whole)


def test_a_number_is_the_same_however_it_is_written():
    original = frame([("25", "1", "x"), ("30", "2.50", "y"), ("7", "1", "z")])
    released = frame([("25.0", "1e0", "x"), ("30", "2.5", "y"), ("8.0", "1", "z")])
    found = count_copies(original, released, pairs(*NAMES), pairs("age"), pairs("job"))
    assert (found.whole, found.on_keys, found.on_sensitive) == (2, 2, 2)


def test_worked_example_of_people_whose_record_is_in_a_release():
    # Expected by trying everything: of twelve people seven are there, of twelve others four.
    train = ("0100", "0110", "0000", "0010", "0021", "1000",
             "0020", "0102", "0000", "0010", "1022", "1101")  # fmt: skip
    others = ("2002", "0000", "2020", "0212", "1010", "0010",
              "2120", "1002", "0120", "0110", "0002", "0000")  # fmt: skip
    made = ("2220", "0000", "0000", "0010", "0100", "1000",
            "3010", "0000", "0100", "0100", "0110", "0000")  # fmt: skip

    def sources(rows):
        return open_source(
            pa.table([list(c) for c in zip(*rows, strict=True)], ["a", "b", "c", "t"])
        )

    every, keys = pairs("a", "b", "c", "t"), pairs("a", "b", "c")
    found = [count_copies(sources(made), sources(rows), every, keys, []).whole
             for rows in (train, others)]  # fmt: skip
    assert found == [7, 4]


def test_the_same_record_is_a_copy_in_whatever_kind_of_file_and_under_other_names(tmp_path):
    rows = {"age": [30, 41, None], "job": ["clerk", " nurse", None], "paid": [10.0, 2.5, 1.0]}
    csv, parquet = tmp_path / "people.csv", tmp_path / "people.parquet"
    pq.write_table(pa.table(rows), parquet)
    csv.write_text("Years,job,paid\n30,clerk,10\n41,nurse,2.5\n-9,,1.0\n")
    released = open_source(csv, missing=["-9"])
    every = [("age", "Years"), ("job", "job"), ("paid", "paid")]
    found = count_copies(open_source(parquet), released, every, every[:1], [])
    assert found == Copies(3, 3, 3, 3, None)
    categories = pd.DataFrame(rows).astype({"job": "category"})
    assert (
        count_copies(open_source(parquet), open_source(categories), pairs(*rows), [], []).whole == 3
    )


def test_what_was_counted_is_said():
    some = Copies(5000, 8, 12, 30, 14)
    assert some.words == (
        "12 of 5,000 released records are word for word in the original (8 columns that both files"
        " have); on the keys alone 30 are, and on keys and sensitive values 14."
    )
    assert Copies(5000, 8, 5000, 5000, None).words.startswith(
        "The release is a copy: all of its 5,000 records are word for word in the original"
    )
    assert [row["measure"] for row in some.rows()] == [
        "copies", "copies_on_keys", "copies_on_keys_and_sensitive"
    ]  # fmt: skip
