"""Releases: as the original is but for the changed cells, whatever the format, and the same bytes every time."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from gamekeeper import InputError
from gamekeeper.budget import within_memory
from gamekeeper.data.coding.codebook import Recode
from gamekeeper.data.coding.coded_table import replace_cells
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.writing import released_cells
from gamekeeper.data.writing.microdata_file import style_of, write_release
from gamekeeper.data.writing.released_cells import CellLook, ReleasedColumn, SuppressedCells
from gamekeeper.data.writing.statistical_writer import read_header
from gamekeeper.errors import Reason, StoreError
from gamekeeper.protection.numbers import Microaggregate
from gamekeeper.protection.pram import Sample
from gamekeeper.protection.releases import released_columns
from gamekeeper.protection.step import ChangeLog, Protected, Setting, VariableChange
from gamekeeper.results import Provenance

N = 6
CANARY = "8231947"
STARS = np.array([True, False, False, True, False, False])
TEXT = (
    'id;"full name";age;region;income\r\n1;"Ü; a";036; n;1,5\r\n2;b;41;s;2,25\r\n3;c;;n;3\r\n'
    "4;d;88;w;4\r\n5;e;41;n;5\r\n6;f;-9;s;6\r\n"
)


def protected(source, *, recode=False, stars=True, numbers=()):
    """Return the file with ages suppressed, and if asked regions recoded."""
    before = code_source(source, ["age", "region"], numbers=numbers)
    log: dict[str, VariableChange] = {}
    table = before
    if recode:
        codes = [0, *(1 + (np.arange(before.codebook["region"].n_codes - 1) > 0))]
        way = Recode("region", codes, ("missing", "north", "elsewhere"))
        table = table.recoded([way])
        log["region"] = VariableChange(way)
    if stars:
        own = STARS & (before.codes("age") != 0)
        table = replace_cells(table, {"age": np.where(own, 0, table.codes("age").astype(int))})
        log["age"] = VariableChange.of_cells(suppressed=own)
    return Protected(before, table, ChangeLog(N, log), (), Provenance("made for a test"))


def write(source, to, made, **options):
    return write_release(
        source,
        to,
        released_columns(made),
        records=made.log.records,
        n_released=made.log.n_left,
        **options,
    )


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "people.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    return path


def test_text_stays_as_it_is_but_for_changed_cells(text, tmp_path):
    source = open_source(text, missing=["-9"])
    made = protected(source, recode=True)
    written = write(source, tmp_path / "out.csv", made)
    assert written.path.read_bytes().decode("cp1252") == (
        'id;full name;age;region;income\r\n1;"Ü; a";;north;1,5\r\n2;b;41;elsewhere;2,25\r\n'
        "3;c;;north;3\r\n4;d;;elsewhere;4\r\n5;e;41;north;5\r\n6;f;-9;elsewhere;6\r\n"
    )
    assert (tmp_path / "out.csv").stat().st_mode & 0o077 == 0
    assert text.read_bytes() == TEXT.encode("cp1252")


def test_codes_and_columns_left_out(text, tmp_path):
    source = open_source(text)
    stars = SuppressedCells(CellLook.CODE, "-8")
    out = write(
        source, tmp_path / "out.csv", protected(source), suppressed=stars,
        leave_out=["full name", "id"],
    )  # fmt: skip
    lines = out.path.read_bytes().decode("cp1252").split("\r\n")
    assert lines[:3] == ["age;region;income", "-8; n;1,5", "41;s;2,25"]
    with pytest.raises(InputError, match="Other cells of the column"):
        write(
            source, tmp_path / "other.csv", protected(source),
            suppressed=SuppressedCells(CellLook.CODE, "-9"),
        )  # fmt: skip
    assert not (tmp_path / "other.csv").exists()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_encodings_marks_quotes_and_line_ends(tmp_path, encoding, line_end):
    path = tmp_path / "in.csv"
    lines = ['"age","region"', '"1","ä"', '"2",""']
    path.write_bytes((line_end.join(lines) + line_end).encode(encoding))
    source = open_source(path)
    made = code_source(source, ["age", "region"])
    nothing = Protected(made, made, ChangeLog(2), (), Provenance("nothing"))
    out = write(source, tmp_path / "out.csv", nothing)
    assert out.path.read_bytes() == path.read_bytes()


def test_packed_text_is_the_same_every_time(text, tmp_path):
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(TEXT.encode("cp1252")))
    source = open_source(packed)
    first = write(source, tmp_path / "a.csv.gz", protected(source))
    second = write(source, tmp_path / "b.csv.gz", protected(source))
    assert first.sha256 == second.sha256
    # Bytes 4 to 8 of a packed file are the time of writing.
    assert first.path.read_bytes()[4:8] == bytes(4)
    assert gzip.decompress(first.path.read_bytes()).startswith(b"id;full name;age")


def test_letters_that_the_encoding_lacks_are_refused(text, tmp_path):
    source = open_source(text)
    column = ReleasedColumn(
        "region", np.zeros(N, bool), np.zeros(N, bool), np.ones(N, np.int64), ("", "京"), None, True
    )
    with pytest.raises(InputError, match="letters that this encoding"):
        write_release(source, tmp_path / "out.csv", [column], n_released=N)
    assert not (tmp_path / "out.csv").exists()


@pytest.fixture
def arrow(tmp_path) -> Path:
    path = tmp_path / "people.parquet"
    table = pa.table(
        {
            "id": pa.array(range(1, 7), pa.int32()),
            "age": pa.array([36, 41, None, 88, 41, 7], pa.int16()),
            "region": pa.array(["n", "s", "n", "w", "n", "s"]).dictionary_encode(),
            "income": [1.5, 2.25, 3.0, 4.0, 5.0, 6.0],
            "born": pa.array([10, 20, 30, 40, 50, 60], pa.date32()),
        }
    ).replace_schema_metadata({"title": "people"})
    parquet.write_table(table, path, compression="gzip")
    return path


def test_parquet_keeps_types_and_what_its_schema_says(arrow, tmp_path):
    source = open_source(arrow)
    out = write(source, tmp_path / "out.parquet", protected(source, recode=True))
    made = parquet.read_table(out.path)
    before = parquet.read_table(arrow)
    assert made.schema.metadata == {b"title": b"people"}
    assert made.schema.field("age").type == pa.int16()
    assert made.column("age").to_pylist() == [None, 41, None, None, 41, 7]
    assert made.column("region").to_pylist() == [
        "north", "elsewhere", "north", "elsewhere", "north", "elsewhere",
    ]  # fmt: skip
    for name in ("id", "income", "born"):
        assert made.column(name) == before.column(name)
    used = parquet.ParquetFile(out.path).metadata.row_group(0).column(0).compression
    assert used == "GZIP"


def test_a_type_grows_only_where_it_must(arrow, tmp_path):
    source = open_source(arrow)
    stars = SuppressedCells(CellLook.CODE, "-9")
    out = write(source, tmp_path / "a.parquet", protected(source), suppressed=stars)
    assert parquet.read_schema(out.path).field("age").type == pa.int16()
    assert parquet.read_table(out.path).column("age").to_pylist() == [-9, 41, None, -9, 41, 7]
    stars = SuppressedCells(CellLook.CODE, "x")
    out = write(source, tmp_path / "b.parquet", protected(source), suppressed=stars)
    assert parquet.read_table(out.path).column("age").to_pylist() == [
        "x",
        "41",
        None,
        "x",
        "41",
        "7",
    ]
    stars = SuppressedCells(CellLook.CODE, "70000")
    out = write(source, tmp_path / "c.parquet", protected(source), suppressed=stars)
    assert parquet.read_schema(out.path).field("age").type == pa.int64()
    with pytest.raises(InputError, match="does not have"):
        write(
            source, tmp_path / "d.parquet", protected(source),
            suppressed=SuppressedCells(CellLook.USER_MISSING),
        )  # fmt: skip


def test_perturbed_numbers_and_samples(arrow, tmp_path):
    source = open_source(arrow)
    before = code_source(source, ["age", "region"], numbers=["income"])
    setting = Setting(keys=("age",))
    made = Microaggregate(variables=("income",), k=3).apply(before, setting)
    out = write(source, tmp_path / "a.parquet", made)
    assert parquet.read_table(out.path).column("income").to_pylist() == [2.25] * 3 + [5.0] * 3
    sample = Sample(fraction=0.5).apply(before, setting)
    out = write(source, tmp_path / "b.csv", sample)
    ids = pd.read_csv(out.path)["id"].tolist()
    assert ids == [int(place) + 1 for place in sample.log.records]


SPSS_LABELS = {
    "region": {1.0: "n", 2.0: "s", 3.0: "w", 99.0: "refused"},
    "age": {-9.0: "no answer"},
}


@pytest.fixture(params=[".sav", ".zsav"])
def spss(request, tmp_path) -> Path:
    path = tmp_path / f"people{request.param}"
    frame = pd.DataFrame(
        {
            "identifier_long": [1.0, 2, 3, 4, 5, 6],
            "age": [36.0, 41, np.nan, 88, 41, -9],
            "region": [1.0, 2, 1, 3, 99, 2],
            "label": ["aa", "b", "a long text of more than eight", "", "c", "d"],
            "survey_weight": [1.5, 2, 1, 1, 2, 1],
            "born": [13e9, 13.1e9, 13.2e9, np.nan, 13.3e9, 13.4e9],
        }
    )
    pyreadstat.write_sav(
        frame, str(path), file_label="People", note=["one", "two"],
        column_labels={"age": "Age in years"}, variable_value_labels=SPSS_LABELS,
        missing_ranges={"age": [-9], "region": [{"lo": 90, "hi": 99}]},
        variable_format={"age": "F3.0", "born": "DATE11"}, variable_measure={"region": "nominal"},
        variable_display_width={"age": 7}, compress=request.param == ".zsav",
    )  # fmt: skip
    content = bytearray(path.read_bytes())
    content[76:80] = read_header(path).places["survey_weight"].to_bytes(4, "little")
    path.write_bytes(content)
    return path


def read_spss(path):
    return pyreadstat.read_sav(str(path), user_missing=True, disable_datetime_conversion=True)


def test_spss_keeps_labels_missing_values_formats_and_weight(spss, tmp_path):
    source = open_source(spss)
    out = write(source, tmp_path / f"out{spss.suffix}", protected(source, recode=True))
    (old, before), (new, after) = read_spss(spss), read_spss(out.path)
    assert new["age"].fillna(0).tolist() == [0, 41, 0, 0, 41, -9]
    assert new["region"].tolist() == [1.0, 2.0, 1.0, 2.0, 99.0, 2.0]
    assert after.variable_value_labels["region"] == {
        1.0: "north", 2.0: "elsewhere", 99.0: "refused",
    }  # fmt: skip
    assert after.variable_value_labels["age"] == {-9.0: "no answer"}
    for name in ("identifier_long", "label", "survey_weight", "born"):
        assert new[name].equals(old[name]), name
    for part in ("missing_ranges", "column_names_to_labels", "file_label", "notes",
                 "variable_measure", "variable_display_width"):  # fmt: skip
        assert getattr(after, part) == getattr(before, part), part
    kept = {name: own for name, own in before.original_variable_types.items() if name != "region"}
    assert {name: after.original_variable_types[name] for name in kept} == kept
    assert read_header(out.path).weight == "survey_weight"


def test_spss_categories_of_before_keep_their_numbers(spss, tmp_path):
    source = open_source(spss)
    before = code_source(source, ["age", "region"])
    top = Recode("age", [0, 1, 2, 2], ("missing", "36", "41+"))
    places = Recode("region", [0, 1, 2, 2], ("missing", "n", "elsewhere"))
    made = Protected(
        before, before.recoded([top, places]),
        ChangeLog(N, {"age": VariableChange(top), "region": VariableChange(places)}), (),
        Provenance("made for a test"),
    )  # fmt: skip
    new, after = read_spss(write(source, tmp_path / f"out{spss.suffix}", made).path)
    assert new["age"].fillna(0).tolist() == [36, 41, 0, 41, 41, -9]
    assert after.variable_value_labels["age"] == {41.0: "41+", -9.0: "no answer"}
    assert after.original_variable_types["age"] == "F3.0"
    assert new["region"].tolist() == [1.0, 2.0, 1.0, 2.0, 99.0, 2.0]
    assert after.variable_value_labels["region"] == {1.0: "n", 2.0: "elsewhere", 99.0: "refused"}


@pytest.mark.slow
def test_spss_is_the_same_bytes_at_any_time(spss, tmp_path):
    source = open_source(spss)
    first = write(source, tmp_path / f"a{spss.suffix}", protected(source))
    second = write(open_source(spss), tmp_path / f"b{spss.suffix}", protected(open_source(spss)))
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.path.read_bytes()[92:109] == b"01 Jan 7000:00:00"


@pytest.mark.slow
def test_spss_user_missing_and_codes(spss, tmp_path):
    source = open_source(spss)
    for look in (CellLook.USER_MISSING, CellLook.CODE):
        out = write(
            source, tmp_path / f"{look.name}{spss.suffix}", protected(source),
            suppressed=SuppressedCells(look, "-8", "withheld"),
        )  # fmt: skip
        new, after = read_spss(out.path)
        assert new["age"].fillna(0).tolist() == [-8, 41, 0, -8, 41, -9]
        assert after.variable_value_labels["age"][-8.0] == "withheld"
        declared = {own["lo"] for own in after.missing_ranges["age"]}
        assert declared == ({-9.0, -8.0} if look is CellLook.USER_MISSING else {-9.0})
    for code, words in (("-9", "have it already"), ("x", "that is none")):
        with pytest.raises(InputError, match=words):
            write(
                source, tmp_path / f"no{spss.suffix}", protected(source),
                suppressed=SuppressedCells(CellLook.CODE, code),
            )  # fmt: skip


def test_the_weight_goes_with_its_column(spss, tmp_path):
    source = open_source(spss)
    out = write(
        source, tmp_path / f"out{spss.suffix}", protected(source), leave_out=["survey_weight"]
    )
    assert read_header(out.path).weight == ""
    out = write(source, tmp_path / f"two{spss.suffix}", protected(source), leave_out=["label"])
    assert read_header(out.path).weight == "survey_weight"


def test_stata(tmp_path):
    path = tmp_path / "people.dta"
    frame = pd.DataFrame(
        {
            "age": pd.Series([36.0, 41.0, "a", 88.0, 41.0, 7.0], dtype=object),
            "region": np.array([1, 2, 1, 3, 1, 2], np.int32),
            "name": ["x", "y", "z", "", "u", "v"],
        }
    )
    pyreadstat.write_dta(
        frame, str(path), version=14, file_label="People", missing_user_values={"age": ["a"]},
        variable_value_labels={"region": {1: "n", 2: "s", 3: "w"}, "age": {"a": "refused"}},
        variable_format={"region": "%8.0g"},
    )  # fmt: skip
    source = open_source(path)
    stars = SuppressedCells(CellLook.USER_MISSING, "s", "withheld")
    out = write(source, tmp_path / "out.dta", protected(source, recode=True), suppressed=stars)
    new, after = pyreadstat.read_dta(str(out.path), user_missing=True)
    assert new["age"].tolist() == ["s", 41.0, "a", "s", 41.0, 7.0]
    assert after.variable_value_labels["age"] == {"a": "refused", "s": "withheld"}
    assert after.variable_value_labels["region"] == {1: "north", 2: "elsewhere"}
    assert new["region"].tolist() == [1, 2, 1, 2, 1, 2]
    assert after.readstat_variable_types["region"] == "int32"
    assert new["name"].tolist() == ["x", "y", "z", "", "u", "v"]
    assert after.file_label == "People"
    again = write(source, tmp_path / "two.dta", protected(source, recode=True), suppressed=stars)
    assert again.path.read_bytes() == out.path.read_bytes()
    assert b"<timestamp>\x1101 Jan 1970 00:00</timestamp>" in out.path.read_bytes()[:256]
    assert b"<release>118</release>" in out.path.read_bytes()[:64]


@pytest.mark.parametrize("version", [8, 10, 12, 13, 15])
def test_stata_of_every_version_stays_that_and_tells_no_time(tmp_path, version):
    path = tmp_path / "people.dta"
    frame = pd.DataFrame({"age": [36.0, 41, 7, 88, 41, 7], "region": [1.0, 2, 1, 3, 1, 2]})
    pyreadstat.write_dta(frame, str(path), version=version, file_label="People")
    source = open_source(path)
    content = write(source, tmp_path / "out.dta", protected(source)).path.read_bytes()
    assert b"01 Jan 1970 00:00" in content[:256]
    assert content[:30] == path.read_bytes()[:30] or version < 13
    assert content[0] == path.read_bytes()[0]
    new, meta = pyreadstat.read_dta(str(tmp_path / "out.dta"))
    assert new["age"].fillna(0).tolist() == [0, 41, 7, 0, 41, 7]
    assert meta.file_label == "People"


@pytest.mark.slow
def test_any_file_may_become_text_or_parquet(spss, tmp_path):
    source = open_source(spss)
    out = write(source, tmp_path / "out.csv", protected(source))
    ages = pd.read_csv(out.path)["age"]
    assert ages.fillna(0).tolist() == [0, 41, 0, 0, 41, 0]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_text_may_become_spss_or_stata(text, tmp_path, ending):
    source = open_source(text, missing=["-9"])
    read = pyreadstat.read_sav if ending == ".sav" else pyreadstat.read_dta
    look = SuppressedCells(CellLook.USER_MISSING, "-8" if ending == ".sav" else "s", "withheld")
    padded = write(source, tmp_path / f"a{ending}", protected(source, recode=True))
    new, after = read(str(padded.path), user_missing=True)
    # An age is written 036: with leading zeros they are texts.
    assert new["age"].tolist() == ["", "41", "", "", "41", "-9"]
    assert new["region"].tolist()[:3] == ["north", "elsewhere", "north"]
    assert new["income"].tolist() == [1.5, 2.25, 3.0, 4.0, 5.0, 6.0]
    assert after.column_names_to_labels["full_name"] == "full name"
    text.write_bytes(TEXT.replace("036", "36").replace("; n;", ";1;").replace(";s;", ";2;")
                     .replace(";n;", ";1;").replace(";w;", ";3;").encode("cp1252"))  # fmt: skip
    source = open_source(text, missing=["-9"])
    made = write(source, tmp_path / f"b{ending}", protected(source, recode=True), suppressed=look)
    new, after = read(str(made.path), user_missing=True)
    star = -8.0 if ending == ".sav" else "s"
    assert [cell for cell in new["age"].tolist() if cell == cell] == [star, 41.0, star, 41.0, -9.0]
    assert after.variable_value_labels["age"][star] == "withheld"
    assert set(after.variable_value_labels["region"].values()) == {"north", "elsewhere"}
    if ending == ".sav":
        assert {own["lo"] for own in after.missing_ranges["age"]} == {-9.0, -8.0}
    again = write(source, tmp_path / f"c{ending}", protected(source, recode=True), suppressed=look)
    assert again.path.read_bytes() == made.path.read_bytes()


def test_a_value_without_a_new_category_is_not_released(arrow, text, tmp_path):
    for path, ending in ((arrow, ".parquet"), (text, ".csv")):
        source = open_source(path, missing=["-9"])
        before = code_source(source, ["age"])
        codes = np.zeros(before.codebook["age"].n_codes, np.int64)
        codes[1] = 1
        way = Recode("age", codes, ("missing", "young"))
        made = Protected(
            before, before.recoded([way]), ChangeLog(N, {"age": VariableChange(way)}), (),
            Provenance("made for a test"),
        )  # fmt: skip
        out = write(source, tmp_path / f"out{ending}", made)
        read = parquet.read_table(out.path).column("age").to_pylist() if ending == ".parquet" else [
            row[2] for row in [*csv.reader(out.path.read_text("cp1252").splitlines(), delimiter=";")][1:]
        ]  # fmt: skip
        assert "88" not in read
        assert "41" not in read
        assert read.count("young") == 1


def test_codes_that_are_coarser_than_the_file(text, tmp_path):
    source = open_source(text, missing=["-9"])
    raw = code_source(source, ["age"])
    codes = [0, 1, 1, 0]
    bands = raw.recoded([Recode("age", codes, ("missing", "under 60"))])
    assert bands.codebook["age"].n_codes == 2
    nothing = Protected(bands, bands, ChangeLog(N), (), Provenance("made for a test"))
    stars = np.array([True, *[False] * 5])
    starred = Protected(
        bands, replace_cells(bands, {"age": np.where(stars, 0, bands.codes("age").astype(int))}),
        ChangeLog(N, {"age": VariableChange.of_cells(suppressed=stars)}), (), nothing.provenance,
    )  # fmt: skip
    moved = Protected(
        bands, bands, ChangeLog(N, {"age": VariableChange.of_cells(~stars)}), (), nothing.provenance
    )
    for made, wanted in (
        # 88 was not looked at: the intruder has no category for it.
        (nothing, ["036", "41", "", "", "41", "-9"]),
        (starred, ["", "41", "", "", "41", "-9"]),
        (moved, ["under 60", "under 60", "", "", "under 60", "-9"]),
    ):
        out = write_release(
            source, tmp_path / "out.csv", released_columns(made, coarse=["age"]), n_released=N,
            replace=True,
        )  # fmt: skip
        rows = [*csv.reader(out.path.read_text("cp1252").splitlines(), delimiter=";")][1:]
        assert [row[2] for row in rows] == wanted


def test_refusals_write_nothing(text, tmp_path):
    source = open_source(text)
    made = protected(source)
    for to, words in (
        (tmp_path / "out.xlsx", "cannot be told"),
        (tmp_path / "out.sas7bdat", "cannot be told"),
        (tmp_path / "out.sav.gz", "cannot be told"),
        (text, "original itself"),
    ):
        with pytest.raises(InputError, match=words):
            write(source, to, made, replace=True)
    with pytest.raises(InputError, match="Every column"):
        write(source, tmp_path / "out.csv", made, leave_out=list(source.names))
    with pytest.raises(InputError, match="nam"):
        write(source, tmp_path / "out.csv", made, leave_out=["nam"])
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(StoreError, match="is there already"):
        write(source, tmp_path / "there.csv", made)
    text.write_bytes(TEXT.replace("88", CANARY).encode("cp1252"))
    with pytest.raises(InputError) as refused:
        write(source, tmp_path / "out.csv", made)
    assert refused.value.reason is Reason.STALE
    assert CANARY not in str(refused.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "there.csv"]


def test_reprs_show_no_cell(text):
    made = released_columns(protected(open_source(text), recode=True))
    assert "036" not in repr(made)
    assert "elsewhere" not in repr(made)


def cells_of(path):
    """Return the rows of a release as they lie in the file, and its columns."""
    if path.suffix == ".csv":
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    elif path.suffix == ".parquet":
        frame = parquet.read_table(path).to_pandas()
    else:
        read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
        frame, _ = read(str(path), user_missing=True)
    return frame.astype(object).where(frame.notna(), None).values.tolist()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".sav", ".dta"])
@pytest.mark.parametrize("in_parts", [False, True])
def test_another_order_moves_whole_records(arrow, tmp_path, monkeypatch, ending, in_parts):
    """All at once, or two rows at a time, for which the file is read anew each."""
    monkeypatch.setattr(released_cells, "_ROWS", 2 if in_parts else 1 << 16)
    monkeypatch.setattr(released_cells, "_PART", 1)
    source, order = open_source(arrow), np.array([4, 0, 5, 3, 1, 2])
    made = protected(source, recode=True)
    plain = write(source, tmp_path / f"plain{ending}", made)
    moved = write(source, tmp_path / f"moved{ending}", made, order=order)
    again = write(source, tmp_path / f"again{ending}", made, order=order)
    rows = cells_of(plain.path)
    assert cells_of(moved.path) == [rows[place] for place in order]
    assert moved.path.read_bytes() == again.path.read_bytes()


def test_the_bytes_of_another_order_do_not_depend_on_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "many.parquet"
    parquet.write_table(pa.table({"age": np.arange(1000) % 7, "word": ["ab"] * 1000}), path)
    monkeypatch.setattr(released_cells, "_ROWS", 64)
    source = open_source(path)
    made = code_source(source, ["age"])
    nothing = Protected(made, made, ChangeLog(1000), (), Provenance("nothing"))
    order = np.random.default_rng(1).permutation(1000)
    found = []
    for memory in ("100MB", "10kB"):
        with within_memory(memory):
            found.append(write(source, tmp_path / f"{memory}.parquet", nothing, order=order).sha256)
    assert found[0] == found[1]


def test_a_sample_in_another_order(arrow, tmp_path):
    source = open_source(arrow)
    sample = Sample(fraction=0.5).apply(code_source(source, ["age"]), Setting(keys=("age",)))
    out = write(source, tmp_path / "b.csv", sample, order=np.array([2, 0, 1]))
    ids = pd.read_csv(out.path)["id"].tolist()
    assert ids == [int(sample.log.records[place]) + 1 for place in (2, 0, 1)]


CELLS = st.text(alphabet='ab,;|\t"\n é-1.', max_size=6)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6)


def csv_cells_of(path, delimiter, encoding):
    text = path.read_bytes().decode(encoding)
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ROWS,
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.integers(0, 2),
)
def test_every_cell_but_the_changed_one_is_as_it_was(
    tmp_path, rows, delimiter, encoding, line_end, quoting, changed
):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow(["first", "second", "third"])
    # A line of empty cells may be read as no line.
    rows = [(f"x{a}", b, c) for a, b, c in rows]
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    source = open_source(path, delimiter=delimiter)
    n = len(rows)
    where = np.arange(n) == min(changed, n - 1)
    column = ReleasedColumn(
        "second", where, ~where & False, np.ones(n, np.int64), ("", 'new; "one"')
    )
    write_release(source, out, [column], n_released=n, replace=True)
    wanted = [list(row) for row in rows]
    wanted[min(changed, n - 1)][1] = 'new; "one"'
    read = csv_cells_of(out, delimiter, encoding)
    assert read[0] == ["first", "second", "third"]
    assert read[1:] == wanted
    raw, made = path.read_bytes(), out.read_bytes()
    assert made[:3] == raw[:3]
    style = style_of(open_source(out, delimiter=delimiter).reader)
    assert style == style_of(source.reader)


@pytest.mark.parametrize("content", ["1;2\n3;4\n", "1;2\r\n3;4\r\n"])
def test_a_file_without_names_stays_without(tmp_path, content):
    path = tmp_path / "in.csv"
    path.write_bytes(content.encode())
    source = open_source(path, header=False)
    write_release(source, tmp_path / "out.csv", [], n_released=2)
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
