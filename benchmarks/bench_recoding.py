"""Recoding by search: levels, any categories, records that may stay in small classes, with cells.

The Adult file and its hierarchies are looked for in the folder that GAMEKEEPER_DATA names (`adult`).
ARX 3.9.2 finds the same levels with the same loss in 0.34 CPU s warm and 5.9 cold, and with 5% of the
records in small classes and its own loss in 2.9 and 11.1; it searches no mixtures of levels. Those
figures were measured once, elsewhere. The million is the invented one of `bench_protection`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv

from benchmarks.bench_protection import KEYS, million
from benchmarks.measure import Row, measured
from gamekeeper.data.coding.coded_table import CodedTable, coded_from_codes
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.protection.recoding.problem import problem_of
from gamekeeper.protection.recoding.search import (
    SearchedRecoding,
    SearchRecoding,
    search_for_recoding,
)
from gamekeeper.protection.recoding.together import RecodeAndSuppress
from gamekeeper.protection.step import Setting

__all__ = ["rows"]


def rows() -> Iterator[Row]:
    """Yield one line per search; what is counted are recodings that were looked at."""
    adult = _adult()
    if adult is not None:
        table, levels = adult
        setting = Setting(keys=tuple(levels))
        yield _searched(
            "Adult 30,162 x 9, k = 5, full levels", table, setting,
            SearchRecoding(k=5, levels=levels, whole_levels=True), "0.3 CPU s",
        )  # fmt: skip
        yield _searched(
            "Adult, k = 5, any categories", table, setting,
            SearchRecoding(k=5, levels=levels), "2 CPU s",
        )  # fmt: skip
        yield _searched(
            "Adult, k = 5, full levels, 5% in small classes", table, setting,
            SearchRecoding(k=5, levels=levels, whole_levels=True, most_share=0.05),
        )  # fmt: skip
        yield _searched(
            "Adult, k = 5, any categories, 5% in small classes, stopped after 10 s", table, setting,
            SearchRecoding(k=5, levels=levels, most_share=0.05, seconds=10),
        )  # fmt: skip
        yield _together("Adult, k = 3", table, setting, levels)
    testdata = _testdata()
    if testdata is not None:
        yield _together(
            "testdata 4,580 x 8, k = 3", testdata, Setting(keys=testdata.codebook.names), {}
        )
    invented = coded_from_codes(million(), KEYS)
    ways = tuple(f"{KEYS[0]}=neighbours {n}" for n in (3, 6, 15, 30))
    yield _searched(
        "1,000,000 x 9, k = 3", invented, Setting(keys=KEYS), SearchRecoding(k=3, ways=ways)
    )


def _searched(
    name: str, table: CodedTable, setting: Setting, step: SearchRecoding, aim: str = ""
) -> Row:
    """Measure a search by itself: what is searched is made before, rules are written after."""
    problem_of(table, setting, step)  # compiles, and fills the caches of the engine
    found: list[SearchedRecoding] = []

    def work() -> int:
        found.append(search_for_recoding(table, setting, step))
        return found[-1].found.n_checks

    row, _ = measured(name, work, output=int, aim=aim, memory=False, runs=3)
    last = found[-1]
    gap = "" if last.found.gap is None else f", gap {last.found.gap:.1%}"
    return _named(row, f"({last.loss:,.0f} bits, {last.status}{gap})")


def _together(name: str, table: CodedTable, setting: Setting, levels: dict[str, str]) -> Row:
    """Measure recoding and suppression together; what is counted are recodings that were priced."""
    step = RecodeAndSuppress(k=3, levels=levels, criterion="released_to_people", seconds=60)
    row, made = measured(
        f"{name}, recoding and (k,1) suppression together",
        lambda: step.apply(table, setting),
        output=lambda made: made.found["checks"],
        memory=False,
    )
    return _named(row, f"({made.found['cells']:,} cells, gap {made.found['gap']:.1%})")


def _named(row: Row, note: str) -> Row:
    return Row(f"{row.name} {note}", row.output, row.wall, row.cpu, row.peak_mb, row.aim)


def _testdata() -> CodedTable | None:
    path = Path(os.environ.get("GAMEKEEPER_DATA") or "/nowhere") / "sdcmicro" / "testdata.csv"
    if not path.is_file():
        return None
    names = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"]
    table = pyarrow.csv.read_csv(path).select(names)
    return code_frame(
        table.cast(pyarrow.schema([(name, pyarrow.string()) for name in names])), names
    )


def _adult() -> tuple[CodedTable, dict[str, str]] | None:
    folder = Path(os.environ.get("GAMEKEEPER_DATA") or "/nowhere") / "adult"
    if not (folder / "adult_arx.csv").is_file():
        return None
    table = pyarrow.csv.read_csv(folder / "adult_arx.csv")
    texts = table.cast(pyarrow.schema([(name, pyarrow.string()) for name in table.column_names]))
    levels = {name: str(folder / "hierarchies" / f"{name}.csv") for name in table.column_names}
    return code_frame(texts, table.column_names), levels
