"""A Parquet file whose pages are damaged is bad input, whatever statement meets them."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.engine.gate import ScannedColumn
from gamekeeper.errors import GamekeeperError, InputError, Reason


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_damaged_pages_are_bad_input(tmp_path, compression):
    rng = Random(4)
    good = tmp_path / "good.parquet"
    texts = [f"{rng.choice('xyz') * 3}{rng.randrange(300)}" for _ in range(3_000)]
    parquet.write_table(pa.table({"a": texts}), good, compression=compression)
    data = good.read_bytes()
    seen: set[Reason] = set()
    for number in range(40):
        file = tmp_path / f"{number}.parquet"
        at = rng.randrange(4, len(data) - 16)
        file.write_bytes(data[:at] + rng.randbytes(16) + data[at + 16 :])
        with DuckDBEngine(threads=1) as engine:
            try:
                view = engine.view(
                    f"SELECT * FROM {engine.scan_parquet([file], [ScannedColumn(0, 'v0')])}"
                )
                engine.query(f"SELECT DISTINCT v0 FROM {view}")
                engine.create(f"SELECT * FROM {view}")
            except GamekeeperError as error:
                seen.add(error.reason if isinstance(error, InputError) else Reason.ENGINE_FAILED)
    assert seen == {Reason.NOT_READABLE}


def test_a_wrong_statement_is_still_our_fault():
    with DuckDBEngine(threads=1) as engine, pytest.raises(GamekeeperError) as caught:
        engine.query("SELECT nothing FROM nowhere")
    assert caught.value.reason is Reason.ENGINE_FAILED
