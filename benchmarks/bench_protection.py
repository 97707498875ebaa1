"""Protection: suppression by criterion, who can be whom, and a million records end to end.

The real files are looked for in the folder that GAMEKEEPER_DATA names: `adult/adult_arx.csv` (30,162
records, all nine columns), `sdcmicro/testdata.csv` (4,580 records, eight columns) and the first 100,000
of `census/us_kdd_census_income_299285.parquet` (eight columns). The million is invented: nine variables
of 2 to 90 categories, unevenly spread, in which four in ten records are like others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from benchmarks.measure import Row, measured
from gamekeeper.algorithms.suppression.both import suppress_both, suppress_released_to_people
from gamekeeper.algorithms.suppression.compatibility import count_candidates, find_matchings
from gamekeeper.algorithms.suppression.hitting_sets import suppress_own
from gamekeeper.algorithms.suppression.problem import SuppressionProblem
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.protection.attacking.attacks import AttackName, attack_file
from gamekeeper.protection.recipe import read_step, run_steps
from gamekeeper.protection.step import Setting

__all__ = ["rows"]

Codes = NDArray[np.uint16]
MILLION = 1_000_000
LEVELS = (90, 2, 5, 7, 16, 23, 14, 5, 9)
KEYS = tuple(f"k{number}" for number in range(len(LEVELS)))
_FILES = {
    "testdata 4,580 x 8": (
        "sdcmicro/testdata.csv",
        ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"),
    ),
    "Adult 30,162 x 9": ("adult/adult_arx.csv", ()),
    "KDD 100,000 x 8": (
        "census/us_kdd_census_income_299285.parquet",
        (
            "age", "sex", "race", "marital_stat", "education", "major_industry_code",
            "major_occupation_code", "citizenship",
        ),
    ),
}  # fmt: skip


def rows() -> Iterator[Row]:
    """Yield one line per file and criterion; what is counted are suppressed cells."""
    for name, codes in _real_files():
        yield from _suppressions(name, codes)
    invented = million()
    aim = "8 CPU s"
    yield _suppressed("(k,1), k = 3: 1,000,000 x 9", suppress_released_to_people, invented, 3, aim)
    yield _suppressed("both, k = 3: 1,000,000 x 9", suppress_both, invented, 3, "")
    table = coded_from_codes(invented, KEYS)

    def end_to_end() -> int:
        setting = Setting(keys=KEYS, seed=1)
        recode = read_step({"do": "recode", "rules": ["k0=neighbours 5"]})
        suppress = read_step({"do": "suppress", "k": 3})
        made, _ = run_steps([recode, suppress], table, setting)
        found = attack_file(table, made.table, made.log, setting, [AttackName.LINKAGE])
        assert found.smallest("both") >= 3
        return made.log.n_suppressed

    name = "recode, suppress (both, k = 3), attack again with links: 1,000,000 x 9"
    yield measured(name, end_to_end, output=lambda n: n, aim="2 min on two cores", memory=False)[0]


def million() -> Codes:
    """Return an invented file."""
    random = np.random.default_rng(5)
    columns = [np.minimum(random.geometric(4 / (level + 2), MILLION), level) for level in LEVELS]
    return np.column_stack(columns).astype(np.uint16)


def _suppressions(name: str, codes: Codes) -> Iterator[Row]:
    aims = {"Adult 30,162 x 9": "1 CPU s, gap 3%"}
    exact = {"KDD 100,000 x 8": "0.5 CPU s"}
    yield _suppressed(
        f"(k,1), k = 2: {name}", suppress_released_to_people, codes, 2, exact.get(name, "")
    )
    yield _suppressed(f"both, k = 2: {name}", suppress_both, codes, 2, aims.get(name, ""))
    if len(codes) < 50_000:
        yield _suppressed(f"own, k = 2: {name}", suppress_own, codes, 2, "")
    found = suppress_released_to_people(SuppressionProblem(codes, 2)).stars

    def counted() -> int:
        return count_candidates(codes, codes, found).both

    def matched() -> int:
        return find_matchings(codes, found).n_known

    for what, work in (("candidates by criterion", counted), ("rows in some assignment", matched)):
        yield measured(f"{what}: {name}", work, output=lambda n: n, aim="", memory=False)[0]


def _suppressed(name: str, way: Any, codes: Codes, k: int, aim: str) -> Row:
    return measured(
        name,
        lambda: way(SuppressionProblem(codes, k)).n_cells,
        output=lambda n: n,
        aim=aim,
        memory=False,
    )[0]


def _real_files() -> Iterator[tuple[str, Codes]]:
    folder = os.environ.get("GAMEKEEPER_DATA")
    for name, (file, columns) in _FILES.items() if folder else ():
        path = Path(str(folder), file)
        if not path.exists():
            continue
        is_text = path.suffix == ".csv"
        table = pyarrow.csv.read_csv(path) if is_text else pyarrow.parquet.read_table(path)
        table = table.slice(0, 100_000).select(list(columns) or table.column_names)
        coded = [
            np.unique(
                np.array(column.cast(pa.string()).to_pylist(), dtype=str), return_inverse=True
            )[1]
            for column in table.columns
        ]
        yield name, (np.column_stack(coded) + 1).astype(np.uint16)
