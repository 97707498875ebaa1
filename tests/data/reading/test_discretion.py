"""A value of a file is in no error, traceback, log or repr, whatever goes wrong with the file."""

from __future__ import annotations

import logging
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from gamekeeper.data.coding.source_coding import code_frame, code_source
from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import Cancelled, GamekeeperError

CANARY = "Fjällräven-7731"
PEOPLE = {"town": [CANARY, "x"], "w": [CANARY, "2"], "n": [1.0, 2.0]}


def chained(error):
    """Every exception behind one, also those that a traceback would leave out."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def shown(error):
    texts = [*traceback.format_exception(error)]
    for link in chained(error):
        texts += [str(link), repr(link), repr(link.args)]
        texts += [str(problem) for problem in getattr(link, "problems", ())]
    return "\n".join(texts)


def reveals(text):
    return any(part in text for part in (CANARY, CANARY[:6], "7731", "Fj\\xe4ll", "FjÃ¤"))


def csv_text(text, written_in="utf-8", **options):
    def read(folder):
        path = folder / "x.csv"
        path.write_bytes(text.replace("@", CANARY).encode(written_in))
        source = open_source(path, **options)
        code_source(source, source.names[:1], numbers=[source.names[-1]])

    return read


def written(suffix, columns, numbers=(), damage=None, variables=("town",), **options):
    def read(folder):
        path = folder / f"x{suffix}"
        frame = pd.DataFrame(columns)
        if suffix == ".parquet":
            pq.write_table(pa.table(columns), path)
        elif suffix == ".xpt":
            pyreadstat.write_xport(frame, path)
        else:
            getattr(pyreadstat, f"write_{suffix[1:]}")(frame, path)
        if damage is not None:
            path.write_bytes(damage(path.read_bytes()))
        source = open_source(path, **options)
        code_source(source, variables, numbers=numbers)

    return read


def frame(make, *names, numbers=()):
    return lambda folder: code_frame(make(), names or None, numbers=numbers)


def closed(folder):
    path = folder / "x.csv"
    path.write_text(f"a,b\n{CANARY},1\n")
    with DuckDBEngine(threads=1) as engine:
        coded = code_source(open_source(path), ["a"], engine=engine)
    coded.matrix()


def cancelled(folder):
    path = folder / "x.csv"
    path.write_text(f"a,b\n{CANARY},1\n")

    def stop(done, whole):
        raise Cancelled("Reading.")

    code_source(open_source(path), ["a"], progress=stop)


FAULTS = {
    "uneven": csv_text("a,b\n@,1\n@\n@,2,@\n"),
    "stray quote": csv_text('a,b,c\n1,"@,3\n4,5,6\n7,"@",9\n'),
    "open quote": csv_text('a,b\n@,"1\n@,2\n'),
    "open quote in the names": csv_text('"a,b\n@,1\n@,2\n'),
    "long record": csv_text("a,b\n@,1\n" + "@" * 700_000 + ",2\n"),
    "not utf-8": csv_text("a,b\n@,1\n", "cp1252", encoding="utf-8"),
    "not ascii": csv_text("a,b\n@,1\n", encoding="ascii"),
    "not utf-16": csv_text("a,b\n@,1\n\n", encoding="utf-16"),
    "zero bytes": csv_text("a,b\n@,\0\n"),
    "not numbers": csv_text("a,w\nx,@\n@,2\n"),
    "wrong decimal": csv_text("a;w\n@;1.7731,5\nx;1,5\n"),
    "names are values": csv_text("@,1,2,3\n@,4,5,6\n"),
    "names twice": csv_text("@,x,@\n@,4,@\n"),
    "unknown column": written(".parquet", PEOPLE, variables=["twon"]),
    "parquet text": written(".parquet", PEOPLE, ["w"]),
    "parquet truth": written(".parquet", PEOPLE | {"t": [True, False]}, ["t"]),
    "parquet lists": written(".parquet", {"town": [[CANARY]]}),
    "parquet records": written(".parquet", {"town": [{CANARY: CANARY}]}),
    "parquet bytes": written(".parquet", {"town": [CANARY.encode()]}),
    "parquet cut": written(".parquet", PEOPLE, damage=lambda whole: whole[:-9]),
    "parquet damaged": written(
        ".parquet", {"town": [CANARY] * 9}, damage=lambda whole: whole[:4] + b"\7" * 40 + whole[44:]
    ),
    **{
        f"{kind} {fault}": written(kind, PEOPLE, ["w"] if fault == "text" else (), damage)
        for kind in (".sav", ".dta", ".xpt")
        for fault, damage in (
            ("text", None),
            ("cut", lambda whole: whole[:200]),
            ("damaged", lambda whole: CANARY.encode() * 40 + whole),
        )
    },
    "spss ascii": written(".sav", PEOPLE, encoding="ascii"),
    "stata ascii": written(".dta", PEOPLE, encoding="ascii"),
    "frame text": frame(lambda: pl.DataFrame({"a": ["x"], "w": [CANARY]}), "a", numbers=["w"]),
    "frame lists": frame(lambda: pl.DataFrame({"a": [[CANARY]]})),
    "frame objects": frame(lambda: pd.DataFrame({"a": pd.Series([1, {CANARY}], dtype=object)})),
    "frame mixed": frame(
        lambda: pd.DataFrame({"a": pd.Series([1, CANARY], dtype=object)}), numbers=["a"]
    ),
    "frame twice": frame(lambda: pd.DataFrame([[CANARY, CANARY]], columns=["a", "a"])),
    "no frame": frame(lambda: {"a": [CANARY]}),
    "closed": closed,
    "cancelled": cancelled,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_error_shows_a_value(tmp_path, caplog, fault):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(GamekeeperError) as caught:
        FAULTS[fault](tmp_path)
    assert not reveals(shown(caught.value))
    assert not reveals(caplog.text)


def test_the_canary_would_be_seen():
    with pytest.raises(ValueError, match="convert") as caught:
        pa.array([1, CANARY])
    assert reveals(shown(caught.value))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".sav", ".dta", ".xpt"])
def test_no_repr_shows_a_value(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    data = pd.DataFrame({"town": [CANARY, "x"], "n": [7731.0, np.nan]})
    options = {"variable_value_labels": {"n": {7731: CANARY}}} if suffix in (".sav", ".dta") else {}
    if suffix == ".csv":
        data.to_csv(path, index=False)
    elif suffix == ".parquet":
        data.to_parquet(path)
    else:
        write = {".xpt": "xport"}.get(suffix, suffix[1:])
        getattr(pyreadstat, f"write_{write}")(data, path, **options)
    source = open_source(path)
    coded = code_source(source, ["town", "n"], numbers=["n"])
    assert CANARY in coded.codebook["town"].words
    parts = [source, source.reader, *source.columns, coded, coded.codebook, *coded.codebook]
    assert not reveals("".join(f"{part!r}{part}" for part in parts))
