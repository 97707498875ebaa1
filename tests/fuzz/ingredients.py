"""What cases are made of: people, files of them in several formats, options that may be wrong."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import xlsxwriter

from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.folder import write_environment
from tests.fuzz.mutating import OPTIONS, WORDS, cells, some_bytes
from tests.given.microdata import world

CANARY = "QZCANARY"


def maybe(random: Random, arguments: list[str], *more: tuple[str, ...]) -> list[str]:
    """Return a command with some options, now and then one with a value that is wrong."""
    chosen = [one for one in more if random.random() < 0.15]
    made = [*arguments, *(text for one in chosen for text in one)]
    valued = [
        place for place, text in enumerate(made) if place and made[place - 1].startswith("--")
    ]
    if valued and random.random() < 0.12:
        made[random.choice(valued)] = random.choice((*OPTIONS, *WORDS[:30])) or "''"
    return made


def text_of(rows: list[list[object]]) -> bytes:
    """Return rows as a CSV file."""
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def people(random: Random, n: int) -> pd.DataFrame:
    """Return some people, one place of whom must never be shown."""
    return pd.DataFrame(
        {
            "age": [random.choice((16, 34, 34, 52, 71)) for _ in range(n)],
            "sex": [random.choice(("f", "m")) for _ in range(n)],
            "place": [random.choice(("North", "South", CANARY)) for _ in range(n)],
            "w": [random.choice((1.0, 2.5, 10.0)) for _ in range(n)],
            "id": [f"p{k}" for k in range(n)],
        }
    )


def data_file(random: Random, frame: pd.DataFrame) -> tuple[str, bytes]:
    """Return a data file of some kind, with faults in its cells or its bytes, or none."""
    ending = random.choice(("csv", "csv", "csv", "parquet", "sav", "dta", "xlsx"))
    if random.random() < 0.25 and len(frame):
        for _ in range(random.choice((1, 2, 6))):
            column = random.choice(list(frame.columns))
            frame[column] = frame[column].astype(object)
            frame.loc[random.randrange(len(frame)), column] = random.choice((None, *WORDS))
    if ending == "csv":
        content = frame.to_csv(index=False, sep=random.choice((",", ",", ";", "\t"))).encode(
            random.choice(("utf-8", "utf-8", "utf-8", "utf-16", "cp1252")), "replace"
        )
        if random.random() < 0.3:
            content = cells(random, content)
        if random.random() < 0.1:
            content = some_bytes(random, content)
        return _packed(random, content) if random.random() < 0.1 else ("d.csv", content)
    if ending == "xlsx":
        out = io.BytesIO()
        rows = [["" if cell is None else str(cell) for cell in row] for row in frame.values]
        write_sheets(out, {"people": [list(frame.columns), *rows]})
        content = out.getvalue()
        return "d.xlsx", some_bytes(random, content) if random.random() < 0.25 else content
    if ending == "parquet":
        out = io.BytesIO()
        table = pa.table({name: _typed(random, frame[name]) for name in frame.columns})
        pyarrow.parquet.write_table(table, out)
        content = out.getvalue()
    else:
        plain = frame.astype({"w": float, "age": float}, errors="ignore").astype(
            dict.fromkeys(("sex", "place", "id"), str)
        )
        for name in ("age", "w"):
            plain[name] = pd.to_numeric(plain[name], errors="coerce").clip(-1e30, 1e30)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, f"d.{ending}"))
            plain = plain.map(lambda cell: cell[:200] if isinstance(cell, str) else cell)
            write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
            write(plain, path)
            content = Path(path).read_bytes()
    if random.random() < 0.25:
        content = some_bytes(random, content)
    return f"d.{ending}", content


def write_sheets(out: io.BytesIO, sheets: dict[str, list[list[str]]]) -> None:
    """Write a workbook of texts."""
    with xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_numbers": False}) as book:
        book.set_properties({"created": datetime(2031, 1, 1, tzinfo=UTC)})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                for column, cell in enumerate(row):
                    sheet.write_string(place, column, cell[:30_000])


def _packed(random: Random, content: bytes) -> tuple[str, bytes]:
    """Return a text file as an archive, which may be damaged or have something beside it."""
    if random.random() < 0.5:
        name, made = "d.csv.gz", gzip.compress(content, mtime=0)
    else:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            name = random.choice(("d.csv", "d.csv", "d.bin", "../d.csv"))
            # With the first date that archives know, and not with that of today.
            archive.writestr(zipfile.ZipInfo(name), content)
            if random.random() < 0.2:
                archive.writestr(zipfile.ZipInfo("e.csv"), content)
        name, made = "d.zip", out.getvalue()
    return name, some_bytes(random, made) if random.random() < 0.3 else made


def _typed(random: Random, cells_: pd.Series) -> pa.Array:
    texts = [None if cell is None else str(cell) for cell in cells_]
    match random.randrange(8):
        case 0:
            ticks = [random.choice((0, 1, 2**62, -(2**62), None)) for _ in texts]
            return pa.array(ticks, pa.timestamp(random.choice(("ms", "us", "ns"))))
        case 1:
            return pa.array(texts, pa.string()).dictionary_encode()
        case 2:
            return pa.array([random.choice((0, 1, -(2**63), 2**63 - 1)) for _ in texts])
        case 3:
            return pa.array([random.choice((0.5, float("nan"), float("inf"), None)) for _ in texts])
        case 4:
            return pa.array([[1]] * len(texts))
        case _:
            return pa.array(texts, pa.large_string())


@cache
def world_files() -> dict[str, bytes]:
    """Return the files of an environment, and of a store of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_environment(world(), place / "w")
        EnvironmentStore.create(place / "w.gk", world(), who="fuzz").close()
        return {
            str(path.relative_to(place)): path.read_bytes()
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }
