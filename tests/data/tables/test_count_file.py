from __future__ import annotations

import csv
import io
import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.data.tables.count_file import read_count_table, read_counts
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.count_tables import truths
from tests.given.published import published_file

TOWN = """\
age,work,n
16-17,yes,3
16-17,no,*
18-24,yes,0
18-24,no,6
Total,yes,3
total,no,9
16-17,Total,3
18-24,Total,6
Total,Total,12
"""


def written(folder, text, name="counts.csv", encoding="utf-8"):
    path = Path(folder, name)
    path.write_bytes(text.encode(encoding))
    return path


def refusal(reader, *arguments, **options):
    with pytest.raises(InputError) as refused:
        reader(*arguments, **options)
    return refused.value


def test_rows_with_totals_are_margins(tmp_path):
    release = read_counts(written(tmp_path, TOWN), scheme="random:3")
    assert [table.name for table in release.published] == ["age by work", "age", "work", "total"]
    assert [axis.categories for axis in release.axes] == [("16-17", "18-24"), ("yes", "no")]
    assert release.published[0].limits[1].tolist() == [[5, UNBOUNDED], [2, 8]]
    assert release.published[2].counts.tolist() == [3, 9]
    assert release.published[3].counts.tolist() == 12
    assert release.title == "counts"


@settings(deadline=None, max_examples=30)
@given(
    truths(),
    st.randoms(use_true_random=False),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_was_written_is_read(truth, random, delimiter, encoding):
    """Rows in any order, with every margin, however the file is encoded."""
    rows = []
    for size in range(len(truth.names) + 1):
        for names in itertools.combinations(truth.names, size):
            margin = truth.margin(names)
            for cell, n in enumerate(margin.dense().reshape(-1).tolist()):
                place = np.unravel_index(cell, margin.shape) if names else ()
                words = dict(zip(names, place, strict=True))
                rows.append(
                    [f"c{words[name]}" if name in words else "Total" for name in truth.names] + [n]
                )
    random.shuffle(rows)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([[*truth.names, "Freq"], *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, text.getvalue(), encoding=encoding)
        release = read_counts(path)
        table = read_count_table(path)
    assert len(release.published) == 2 ** len(truth.names)
    for own in release.published:
        sums = truth.margin(own.axes).dense()
        order = [
            [int(label[1:]) for label in axis.categories]
            for name in own.axes
            for axis in release.axes
            if axis.name == name
        ]
        assert np.array_equal(own.counts, sums[np.ix_(*order)] if order else sums)
    assert table.total == truth.total
    assert table.names == truth.names


def test_true_counts_without_a_row_are_zero(tmp_path):
    table = read_count_table(written(tmp_path, "age;work;Count\nyoung;yes;3,0\nold;no;6,0\n"))
    assert table.dense().tolist() == [[3, 0], [0, 6]]
    assert table.axes[0].categories == ("young", "old")


def test_a_published_cell_without_a_row_needs_a_word(tmp_path):
    path = written(tmp_path, "age,work,n\nyoung,yes,3\nold,no,6\n")
    error = refusal(read_counts, path)
    assert error.reason is Reason.NOTHING_GIVEN
    assert "2 cells have no row (age=young, work=no; age=old, work=yes)" in str(error)
    assert "'zero'" in str(error)
    assert read_counts(path, absent="zero").published[0].counts.tolist() == [[3, 0], [0, 6]]
    assert read_counts(path, absent="hidden").published[0].n_hidden == 2
    assert refusal(read_counts, path, absent="nothing").reason is Reason.BAD_OPTION


def test_intervals_are_read_wherever_a_cell_has_one_of_what_is_published(tmp_path):
    rows = "age,n\na,2-5\nb,7 to 9\nc,20+\nd,4\ne,x\nf,0\u20133\n"
    path = written(tmp_path, rows)
    table = read_counts(path, scheme="interval").published[0]
    assert table.limits[0].tolist() == [2, 7, 20, 4, 0, 0]
    assert table.limits[1].tolist() == [5, 9, UNBOUNDED, 4, UNBOUNDED, 3]
    exact = read_counts(path).published[0]
    assert [own.tolist() for own in exact.limits] == [own.tolist() for own in table.limits]
    error = refusal(read_count_table, path)
    assert "5 cells with a text where a number belongs (records 1, 2, 3, 5 and 6)" in str(error)
    path = written(tmp_path, "age,n\na,0-4\nb,5+\n")
    assert read_counts(path, scheme="interval:0,5").published[0].counts.tolist() == [0, 5]
    error = refusal(read_counts, path, scheme="interval:0,4")
    assert error.reason is Reason.IMPOSSIBLE_COUNT
    assert "age=a" in str(error)
    path = written(tmp_path, "age,n\na,5-2\n")
    assert "cannot be understood" in str(refusal(read_counts, path, scheme="interval"))


def test_all_bad_cells_are_told_by_record_and_never_shown(tmp_path):
    rows = (
        "age,work,n\na,x,-918273\na,y,918273.5\n,x,4\nb,x,918273x\nb,y,99999999999999999999\nb,z,\n"
    )
    path = written(tmp_path, rows)
    for reader in (read_counts, read_count_table):
        error = refusal(reader, path)
        text = str(error)
        for words in (
            "1 cell below 0 (record 1)",
            "1 cell with a number that is not whole (record 2)",
            "column 'age': 1 row has no category (record 3)",
            "1 cell with a text where a number belongs (record 4)",
            "or more (record 5)",
        ):
            assert words in text, words
        assert "918273" not in text
        assert "99999999" not in text
    assert "1 cell without a number (record 6)" in str(refusal(read_count_table, path))


def test_cells_with_two_rows_are_told(tmp_path):
    path = written(
        tmp_path, "age,work,n\na,x,1\na,y,2\na,x,1\nb,x,0\nb,y,0\nTotal,x,1\nTotal,x,1\n"
    )
    for reader in (read_counts, read_count_table):
        error = refusal(reader, path)
        assert error.reason is Reason.DUPLICATE
        assert "table 'age by work': 1 row is of a cell that has one already (record 3)" in str(
            error
        )
        assert "table 'work': 1 row is of a cell" in str(error)


def test_impossible_counts_are_told_by_cell(tmp_path):
    error = refusal(read_counts, written(tmp_path, "age,n\na,3\nb,4\n"), scheme="conventional:3")
    assert error.reason is Reason.IMPOSSIBLE_COUNT
    assert "table 'age', age=b: the published count 4" in str(error)


def test_totals_of_true_counts_must_agree(tmp_path):
    error = refusal(read_count_table, written(tmp_path, "age,n\na,3\nb,918273\nTotal,918274\n"))
    assert error.reason is Reason.CONFLICTING_COUNTS
    assert "1 total not the sum of the cells (record 3)" in str(error)
    assert "91827" not in str(error)
    assert read_count_table(written(tmp_path, "age,n\na,3\nb,4\nTotal,7\n")).total == 7
    path = written(tmp_path, "age,n\na,3\nb,4\nTotal,7\n")
    assert read_count_table(path, total=None, disjoint=["age"]).shape == (3,)
    assert refusal(read_count_table, path, total=None).reason is Reason.POSSIBLE_SUBTOTALS
    error = refusal(read_count_table, written(tmp_path, "age,n,w\na,3,Total\nb,4,Total\n"))
    assert "w" in str(error)
    error = refusal(read_count_table, written(tmp_path, "age,w,n\na,Total,3\nTotal,x,4\n"))
    assert "every row is a total" in str(error)


def test_the_column_of_counts_and_the_axes_can_be_named(tmp_path):
    path = written(tmp_path, "age,people,n,note\na,3,1,p\nb,4,2,q\n")
    table = read_count_table(path, count="people", axes=["age"])
    assert table.dense().tolist() == [3, 4]
    assert refusal(read_count_table, path, count="persons").reason is Reason.UNKNOWN_NAME
    assert refusal(read_count_table, path, axes=["age", "Note"]).reason is Reason.UNKNOWN_NAME
    path = written(tmp_path, "age,people\na,3\nb,4\n")
    error = refusal(read_count_table, path)
    assert error.reason is Reason.BAD_OPTION
    assert "No column is known" in str(error)
    path = written(tmp_path, "age,n,Count\na,3,1\n")
    assert "'n', 'Count'" in str(refusal(read_count_table, path))


def test_files_without_rows_and_of_other_kinds(tmp_path):
    assert refusal(read_counts, written(tmp_path, "age,n\n")).reason is Reason.NOTHING_GIVEN
    assert refusal(read_counts, tmp_path / "none.csv").reason is Reason.NOT_FOUND
    path = written(tmp_path, "", "x.sav")
    with pytest.raises(InputError):
        read_counts(path)
    assert refusal(read_counts, written(tmp_path, "age,n\na,1,2\n")).reason is Reason.MALFORMED


def test_a_release_too_large_to_fill_is_refused(tmp_path):
    names = [f"v{k}" for k in range(5)]
    rows = [",".join([*names, "n"]), *(",".join([f"c{k}"] * 5 + ["1"]) for k in range(60))]
    path = written(tmp_path, "\n".join(rows) + "\n")
    with pytest.raises(LimitError, match="777,600,000"):
        read_counts(path, absent="zero")
    assert read_count_table(path).is_sparse


def test_tables_of_the_literature():
    for name, shape, total in [
        ("czech_autoworkers_2x6.csv", (2,) * 6, 1841),
        ("rochdale_2x8.csv", (2,) * 8, 665),
        ("hair_eye_colour_4x4x2.csv", (4, 4, 2), 592),
        ("titanic_4x2x2x2.csv", (4, 2, 2, 2), 2201),
        ("ucb_admissions_2x2x6.csv", (2, 2, 6), 4526),
    ]:
        path = published_file(f"tables/{name}")
        table = read_count_table(path)
        assert (table.shape, table.total) == (shape, total)
        assert read_counts(path).constraints.margins[0].exact
