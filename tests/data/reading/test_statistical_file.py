"""SPSS, Stata and SAS. A .sas7bdat can be read but not written here, so it has no test of its own."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from gamekeeper.budget import within_memory
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading import statistical_file
from gamekeeper.data.reading.column import ColumnKind
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, Reason

LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "town": {"x": "Xanten"}}


def people():
    return pd.DataFrame(
        {
            "sex": [1.0, 2.0, 9.0, np.nan],
            "town": ["x", "yy ", "NA", ""],
            "born": [dt.date(2020, 1, 31), None, dt.date(1960, 12, 1), dt.date(1960, 12, 1)],
            "w": [1.5, 2.25, 3.0, 4.0],
        }
    )


def values_of(coded, name):
    return [coded.codebook[name].values[code] for code in coded.codes(name)]


def words_of(coded, name):
    return [coded.codebook[name].words[code] for code in coded.codes(name)]


@pytest.fixture(params=[".sav", ".zsav"])
def spss(request, tmp_path):
    path = tmp_path / f"x{request.param}"
    pyreadstat.write_sav(
        people(),
        path,
        compress=request.param == ".zsav",
        column_labels={"sex": "Sex of person"},
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9], "town": ["NA"]},
    )
    return path


def test_spss_values_labels_and_user_missing(spss):
    source = open_source(spss)
    assert (source.kind, source.n_records) == ("spss", 4)
    assert source.names == ("sex", "town", "born", "w")
    kinds = [column.kind for column in source.columns]
    assert kinds == [ColumnKind.NUMBER, ColumnKind.TEXT, ColumnKind.DATE, ColumnKind.NUMBER]
    assert source.settings["user_missing"] == "missing"
    coded = code_source(source, ["sex", "town", "born"], numbers=["w"])
    assert values_of(coded, "sex") == ["1", "2", "", ""]
    assert words_of(coded, "sex") == ["male", "female", "missing", "missing"]
    assert coded.codebook["sex"].label == "Sex of person"
    assert values_of(coded, "town") == ["x", "yy", "", ""]
    assert words_of(coded, "town") == ["Xanten", "yy", "missing", "missing"]
    assert values_of(coded, "born") == ["2020-01-31", "", "1960-12-01", "1960-12-01"]
    assert coded.number("w").tolist() == [1.5, 2.25, 3.0, 4.0]


def test_spss_user_missing_may_be_kept(spss):
    source = open_source(spss, keep_user_missing=True)
    assert source.settings["user_missing"] == "kept"
    coded = code_source(source, ["sex", "town"])
    assert words_of(coded, "sex") == ["male", "female", "refused", "missing"]
    assert values_of(coded, "town") == ["x", "yy", "NA", ""]


def test_spss_ranges_of_missing_values(tmp_path):
    path = tmp_path / "x.sav"
    frame = pd.DataFrame({"a": [1.0, 97.0, 98.5, 99.0, -1.0]})
    pyreadstat.write_sav(frame, path, missing_ranges={"a": [{"lo": 97, "hi": 99}, -1]})
    assert values_of(code_source(open_source(path), ["a"]), "a") == ["1", "", "", "", ""]


def test_given_missing_values_are_texts(spss):
    coded = code_source(open_source(spss, missing=["2", "x"]), ["sex", "town"], numbers=["w"])
    assert values_of(coded, "sex") == ["1", "", "", ""]
    assert values_of(coded, "town") == ["", "yy", "", ""]


@pytest.mark.slow
def test_leading_zeros_of_a_display_format_survive(tmp_path):
    frame = pd.DataFrame({"region": [7.0, 12.0, 1234.0]})
    labels = {"region": {7: "North"}}
    pyreadstat.write_sav(
        frame, tmp_path / "x.sav", variable_format={"region": "N3"}, variable_value_labels=labels
    )
    pyreadstat.write_dta(
        frame,
        tmp_path / "x.dta",
        variable_format={"region": "%03.0f"},
        variable_value_labels=labels,
    )
    for name in ("x.sav", "x.dta"):
        coded = code_source(open_source(tmp_path / name), ["region"])
        assert coded.codebook["region"].values == ("", "007", "012", "1234")
        assert coded.codebook["region"].words[1] == "North"


def test_portable_spss(tmp_path):
    path = tmp_path / "x.por"
    pyreadstat.write_por(people()[["sex", "town", "w"]], path)
    source = open_source(path)
    assert source.names == ("SEX", "TOWN", "W")
    coded = code_source(source, ["SEX", "TOWN"], numbers=["W"])
    assert values_of(coded, "SEX") == ["1", "2", "9", ""]
    assert values_of(coded, "TOWN") == ["x", "yy", "NA", ""]
    assert coded.number("W").tolist() == [1.5, 2.25, 3.0, 4.0]


def stata(path):
    frame = pd.DataFrame(
        {
            "sex": pd.Series([1, 2, "a", None], dtype=object),
            "town": ["x", "yy", "NA", ""],
            "count": [1, 2, 3, 4],
            "share": [0.5, 2.0, np.nan, 4.0],
        }
    )
    pyreadstat.write_dta(
        frame,
        path,
        column_labels=["Sex of person", "", "", ""],
        missing_user_values={"sex": ["a"]},
        variable_value_labels={"sex": {1: "male", 2: "female", "a": "refused"}},
    )
    return path


def test_stata_values_labels_and_extended_missing(tmp_path):
    source = open_source(stata(tmp_path / "x.dta"))
    assert (source.kind, source.n_records) == ("stata", 4)
    coded = code_source(source, source.names)
    assert words_of(coded, "sex") == ["male", "female", "missing", "missing"]
    assert coded.codebook["sex"].label == "Sex of person"
    assert values_of(coded, "town") == ["x", "yy", "NA", ""]
    assert values_of(coded, "count") == ["1", "2", "3", "4"]
    assert values_of(coded, "share") == ["0.5", "2", "", "4"]


def test_stata_extended_missing_may_be_kept(tmp_path):
    source = open_source(stata(tmp_path / "x.dta"), keep_user_missing=True)
    coded = code_source(source, ["sex"])
    assert values_of(coded, "sex") == ["1", "2", "a", ""]
    assert words_of(coded, "sex") == ["male", "female", "refused", "missing"]


def test_sas_transport(tmp_path):
    path = tmp_path / "x.xpt"
    pyreadstat.write_xport(people()[["sex", "town", "w"]], path)
    source = open_source(path)
    assert source.kind == "sas"
    coded = code_source(source, ["sex", "town"], numbers=["w"])
    assert values_of(coded, "sex") == ["1", "2", "9", ""]
    assert values_of(coded, "town") == ["x", "yy", "NA", ""]
    assert coded.number("w").tolist() == [1.5, 2.25, 3.0, 4.0]


@pytest.mark.slow
@pytest.mark.parametrize("n_records", [0, 1, 6, 7, 14])
@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt", ".por"])
def test_files_are_read_in_chunks(tmp_path, monkeypatch, suffix, n_records):
    monkeypatch.setattr(statistical_file, "_CELLS", 14)
    path = tmp_path / f"x{suffix}"
    frame = pd.DataFrame(
        {"A": np.arange(n_records, dtype=float), "B": [f"t{i}" for i in range(n_records)]}
    )
    write = {".sav": "sav", ".dta": "dta", ".xpt": "xport", ".por": "por"}[suffix]
    getattr(pyreadstat, f"write_{write}")(frame, path)
    source = open_source(path)
    if not n_records:
        with pytest.raises(InputError, match="no records"):
            code_source(source, ["A"])
        return
    coded = code_source(source, ["B"], numbers=["A"])
    assert values_of(coded, "B") == [f"t{i}" for i in range(n_records)]
    assert coded.number("A").tolist() == list(range(n_records))
    # The type of a column must not depend on the chunk: here the first one is missing throughout.
    late = frame.assign(A=np.nan)
    if n_records > 7:
        late.loc[n_records - 1, "A"] = 5.0
        getattr(pyreadstat, f"write_{write}")(late, path)
        coded = code_source(open_source(path), ["A", "B"])
        assert values_of(coded, "A") == [""] * (n_records - 1) + ["5"]


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize("content", [b"", b"no such file" * 100])
def test_other_content_is_one_error(tmp_path, suffix, content):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(open_source(path).batches(["a"]))
    assert caught.value.reason is Reason.MALFORMED
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_cut_file_is_one_error(spss):
    spss.write_bytes(spss.read_bytes()[:-30])
    with pytest.raises(InputError) as caught:
        code_source(open_source(spss), ["sex"])
    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("encoding", ["klingon", "ascii", "utf-16"])
def test_a_wrong_encoding_is_one_error(tmp_path, encoding):
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": ["é"]}), path)
    with pytest.raises(InputError) as caught:
        code_source(open_source(path, encoding=encoding), ["a"])
    assert caught.value.reason is Reason.WRONG_ENCODING


@pytest.mark.slow
def test_an_old_stata_file_needs_its_encoding(tmp_path):
    path = tmp_path / "x.dta"
    pyreadstat.write_dta(pd.DataFrame({"a": ["é"]}), path)
    path.write_bytes(path.read_bytes().replace("é".encode(), "é\0".encode("cp1252")))
    with pytest.raises(InputError) as caught:
        code_source(open_source(path), ["a"])
    assert caught.value.reason is Reason.WRONG_ENCODING
    source = open_source(path, encoding="cp1252")
    assert source.settings["encoding"] == "cp1252"
    assert code_source(source, ["a"]).codebook["a"].values == ("", "é")


def test_a_small_budget_is_kept_by_reading_fewer_records_at_a_time(tmp_path):
    path = tmp_path / "x.sav"
    n_records = 90_000
    frame = pd.DataFrame(
        {"a": np.arange(n_records) % 50.0, "b": [f"t{i}" for i in range(n_records)]}
    )
    pyreadstat.write_sav(frame, path)
    with within_memory("64MB"):
        source = open_source(path)
        sizes = [batch.num_rows for batch in source.batches(["b", "a"])]
    assert sum(sizes) == n_records
    assert max(sizes) < n_records / 2


def test_long_texts_are_read_in_smaller_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(statistical_file, "_CELLS", 1_000)
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": ["x" * 640] * 200, "b": [1.0] * 200}), path)
    source = open_source(path)
    assert [batch.num_rows for batch in source.batches(["a"])] == [90, 90, 20]
    assert [batch.num_rows for batch in source.batches(["b"])] == [200]
