from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason

CELLS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=6
) | st.sampled_from(["007", "", '"', "a,b;c|d\te", "\n", "\r\n", "x\ny", "1,5"])


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def cells_of(source, columns=None):
    """Every record as texts, by the reader."""
    names = list(columns or source.names)
    found = [batch.to_pydict() for batch in source.batches(names)]
    return [
        list(row) for batch in found for row in zip(*(batch[name] for name in names), strict=True)
    ]


def words_of(source):
    """Every record in the values of its codes."""
    coded = code_source(source, source.names)
    return [
        [coded.codebook[name].values[code] for name, code in zip(source.names, row, strict=True)]
        for row in coded.matrix().tolist()
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6
        )
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_what_was_written_is_read(rows, delimiter, encoding, line_end, quote_all):
    names = [f"v{place}" for place in range(len(rows[0]))]
    text = io.StringIO(newline="")
    # With other line ends the writer leaves other line breaks without quotes.
    quoting = csv.QUOTE_ALL if quote_all or line_end != "\r\n" else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([names, *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder, "x.csv"), text.getvalue(), encoding)
        source = open_source(path)
        assert source.names == tuple(names)
        if len(names) > 1:
            assert source.settings["delimiter"] == delimiter
        assert source.settings["encoding"].startswith(encoding[:5])
        assert cells_of(source) == rows
        assert words_of(source) == [[cell.strip() for cell in row] for row in rows]


@given(st.text(st.characters(codec="cp1252", exclude_categories=["Cc"]), min_size=1, max_size=8))
@settings(deadline=None, max_examples=30)
def test_windows_texts_are_read(text):
    assume(text.strip() and not text.isascii())
    bytes_ = ("name,é\n" + '"' + text.replace('"', '""') + '",1\n').encode("cp1252")
    try:
        bytes_.decode()
    except UnicodeDecodeError:
        pass
    else:
        assume(False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(bytes_)
        source = open_source(path)
        assert source.settings["encoding"] == "cp1252"
        assert source.names == ("name", "é")
        assert cells_of(source) == [[text, "1"]]


def test_bytes_that_windows_does_not_know_are_latin_1(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"name\n\xe9\x81\n")
    source = open_source(path)
    assert source.settings["encoding"] == "latin-1"
    assert cells_of(source) == [["é\x81"]]


def test_a_late_byte_decides_the_encoding(tmp_path):
    text = "name,n\n" + "a,1\n" * 400_000 + "é,2\n"
    for encoding in ("utf-8", "cp1252"):
        source = open_source(written(tmp_path / "x.csv", text, encoding))
        assert source.settings["encoding"] == encoding
        assert code_source(source, ["name"]).codebook["name"].values == ("", "a", "é")


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n", ";"),
        ("a,b\n1;5,2\n", ","),
        ('"a,x";"b,y"\n"1,2";"3,4"\n', ";"),
        ("last, first;age\nDoe, J;1\nRoe;2\n", ";"),
        ("a|b|c\n1|2,0|3\n", "|"),
        ("a\tb\n1 2\t3\n", "\t"),
        ("a\n1\n", ","),
        ("\n\r\na;b\n1;2\n", ";"),
    ],
)
def test_the_delimiter_is_detected(tmp_path, text, delimiter):
    source = open_source(written(tmp_path / "x.csv", text))
    assert source.settings["delimiter"] == delimiter
    assert "delimiter" in source.detected


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;w\n1;1,5\n", ","),
        ("a;w\n1;1.5\n", "."),
        ("a;w\n1;2\n", "."),
        ("a;w\n1;1,234\n", ","),
        ('a,w\n1,"1,234"\n', "."),
        ('a,w\n1,"1,25"\n', ","),
        ("a;w;x\n1.1;1,5;2,5\n", ","),
        ("a;b\n01.02.2020;x,y\n", "."),
    ],
)
def test_the_decimal_mark_is_detected(tmp_path, text, decimal):
    assert open_source(written(tmp_path / "x.csv", text)).decimal == decimal


def test_a_given_setting_wins(tmp_path):
    path = written(tmp_path / "x.csv", "a;b\n1,5;é\n")
    source = open_source(path, delimiter=",", encoding="latin-1", decimal=".")
    assert source.names == ("a;b",)
    assert source.detected == ()
    assert dict(source.settings) == {"delimiter": ",", "encoding": "iso8859-1", "decimal": "."}
    source = open_source(path, delimiter=";", encoding="cp1252")
    assert source.detected == ("decimal",)
    assert cells_of(source) == [["1,5", "Ã©"]]


@pytest.mark.parametrize("encoding", ["utf-16", "UTF-8-SIG", "utf-8"])
def test_a_given_encoding_may_have_a_byte_order_mark(tmp_path, encoding):
    mark = "utf-16" if encoding == "utf-16" else "utf-8-sig"
    path = written(tmp_path / "x.csv", '"näme"\n"x\ny"\n', mark)
    source = open_source(path, encoding=encoding)
    assert source.names == ("näme",)
    assert cells_of(source) == [["x\ny"]]


def test_only_wanted_columns_are_read_in_the_asked_order(tmp_path):
    source = open_source(written(tmp_path / "x.csv", "a,b,c\n1,2,3\n"))
    assert cells_of(source, ["c", "a"]) == [["3", "1"]]
    assert [batch.schema.names for batch in source.batches(["b"])] == [["b"]]


def test_empty_lines_are_no_records(tmp_path):
    source = open_source(written(tmp_path / "x.csv", "\na,b\n\n1,2\n\n\n3,4"))
    assert cells_of(source) == [["1", "2"], ["3", "4"]]


def test_a_file_of_names_has_no_records(tmp_path):
    source = open_source(written(tmp_path / "x.csv", "a,b\n\n"))
    assert cells_of(source) == []
    with pytest.raises(InputError, match="no records") as caught:
        code_source(source, ["a"])
    assert caught.value.reason is Reason.NOTHING_GIVEN


def test_columns_without_a_name_are_numbered(tmp_path):
    source = open_source(written(tmp_path / "x.csv", ",a , b\n0,1,2\n"))
    assert source.names == ("column 1", "a", "b")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_names_may_be_quoted_and_hold_line_breaks(tmp_path, encoding):
    text = '\n"ä\nb","c ""d"""\r\n1,2\r\n'
    source = open_source(written(tmp_path / "x.csv", text, encoding))
    assert source.names == ("ä\nb", 'c "d"')
    assert cells_of(source) == [["1", "2"]]


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        cells_of(open_source(path, **options))
    return caught.value


def test_uneven_records_are_counted_in_one_error(tmp_path):
    error = refused(
        written(tmp_path / "x.csv", 'a,b,c\n1,2,3\n1,2\n\n1,"2,3",4\n1,2,3,4\n1,2,3,4\n')
    )
    assert error.reason is Reason.MALFORMED
    assert (
        "has 3 columns, but 3 records of 5 have between 2 and 4 cells; the first of them is "
        "record 2." in str(error)
    )
    assert "(',' was detected)" in str(error)
    error = refused(written(tmp_path / "x.csv", "a\tb\n1\n"), delimiter="\t")
    assert "1 record of 1 have 1 cell; the first of them is record 1." in str(error)
    assert "('tab' was given)" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,2\n3,"4\n5,6\n7,8\n',
        'a,b,c\n1,"x,3\n4,5,6\n7,"y",9\n',
        'a,b\n1,"x\n2,y\n3,"z"\n',
        'a\n"x\ny\n',
        'a,b\n' + '1,2\n' * 100_000 + '3,"4\n' + '5,6\n' * 100_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_stray_quote_never_swallows_records(tmp_path, text, encoding):
    assert refused(written(tmp_path / "x.csv", text, encoding)).reason is Reason.MALFORMED


def test_quotes_inside_of_cells_are_text(tmp_path):
    source = open_source(written(tmp_path / "x.csv", 'a,b\n5" pipe,"say ""x"""\n'))
    assert cells_of(source) == [['5" pipe', 'say "x"']]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path, text):
    assert refused(written(tmp_path / "x.csv", text)).reason is Reason.NOTHING_GIVEN


@pytest.mark.parametrize("text", ["1,2\n3,4\n", "17\n18\n", "1.5;x;2\n", "17;male\n"])
def test_a_first_line_of_values_is_refused(tmp_path, text):
    error = refused(written(tmp_path / "x.csv", text))
    assert error.reason is Reason.MALFORMED
    assert "first line" in str(error)


def test_names_that_are_taken_are_told_by_their_place(tmp_path):
    error = refused(written(tmp_path / "x.csv", "a,b,a,b ,a\n1,2,3,4,5\n"))
    assert error.reason is Reason.DUPLICATE
    assert [str(problem) for problem in error.problems] == [
        "column 3: It has the name of column 1.",
        "column 4: It has the name of column 2.",
        "column 5: It has the name of column 1.",
    ]


def test_other_files_are_no_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"PK\x03\x04\x00\x00\x01xl/workbook.xml\x00")
    error = refused(path)
    assert "zero bytes" in str(error)
    assert "Excel" in str(error)


def test_a_wrong_encoding_is_one_error(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,é\n", "cp1252")
    assert refused(path, encoding="utf-8").reason is Reason.WRONG_ENCODING
    assert refused(path, encoding="ascii").reason is Reason.WRONG_ENCODING
    late = written(tmp_path / "y.csv", "a,b\n" + "1,2\n" * 300_000 + "1,é\n", "cp1252")
    assert refused(late, encoding="utf-8").reason is Reason.WRONG_ENCODING
    assert refused(late, encoding="ascii").reason is Reason.WRONG_ENCODING


def test_all_wrong_settings_are_told_at_once(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n")
    error = refused(path, delimiter="", decimal=";", encoding="klingon")
    assert error.reason is Reason.BAD_OPTION
    assert [problem.where for problem in error.problems] == ["delimiter", "decimal", "encoding"]
    for options in ({"delimiter": "\n"}, {"delimiter": "ab"}, {"encoding": "rot13"}):
        assert refused(path, **options).reason is Reason.BAD_OPTION


def test_a_record_longer_than_a_block_is_refused_or_read(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n" + "x" * (9 << 20) + ",3\n")
    assert refused(path).reason is Reason.MALFORMED
