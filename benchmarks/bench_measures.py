"""The field's own measures on a million records: individual and household risk, then all of them.

Eight keys of 3 to 12 categories, drawn independently, weights from 10 to 89, and 400,000 households.
Counting the keys is not part of what is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.measure import Row, measured
from gamekeeper.attack.measure_lines import household_risks, individual_risks
from gamekeeper.attack.measures import measure_risk
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable

__all__ = ["rows"]

RECORDS = 1_000_000
LEVELS = (9, 5, 7, 4, 12, 3, 6, 8)
KEYS = tuple(f"k{number}" for number in range(len(LEVELS)))


def rows() -> Iterator[Row]:
    """Yield one line per kind of measure."""
    table = counted(RECORDS)

    def of_records() -> int:
        risk = individual_risks(table.listed, table.listed.sizes())
        assert risk is not None
        return len(household_risks(table.listed, risk.exact, "home").risk)

    def everything(dimension: int) -> int:
        found = measure_risk(table, household="home", dimension=dimension)
        return found.records.to_arrow().num_rows

    for name, work, aim in (
        ("individual and household risk", of_records, "2 CPU s"),
        ("all measures but combinations", lambda: everything(0), ""),
        ("all measures, combinations of up to 3 of 8 keys", lambda: everything(3), ""),
    ):
        yield measured(name, work, output=lambda n: n, aim=aim, memory=False)[0]


def counted(n_records: int) -> KeyTable:
    """Return the keys of an invented file."""
    rng = np.random.default_rng(1)
    columns = {
        key: rng.integers(0, level, n_records).astype(str)
        for key, level in zip(KEYS, LEVELS, strict=True)
    }
    homes = rng.integers(0, n_records * 2 // 5, n_records)
    frame = pa.table({**columns, "home": homes, "w": rng.integers(10, 90, n_records).astype(float)})
    coded = code_frame(frame, [*KEYS, "home"], numbers=["w"])
    return count_keys(coded, KEYS, weight="w")
