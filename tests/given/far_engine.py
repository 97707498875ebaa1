"""An engine that says that it is elsewhere, and is of this process: DuckDB behind the same gate.

What is refused, counted or written otherwise for an engine elsewhere is so here, at the price of a
local query. `streamed` has the statements whose results came in batches, `rows` how many rows came of
each statement, so that a test can tell what came here.
"""

from __future__ import annotations

from gamekeeper.data.engine.duckdb_engine import DuckDBEngine


class FarEngine(DuckDBEngine):
    def __init__(self, **options):
        super().__init__(**{"memory_limit": "500MB", "threads": 1, **options})
        self.streamed = []
        self.rows = []

    @property
    def is_local(self):
        return False

    def query(self, sql):
        found = super().query(sql)
        self.rows.append(found.num_rows)
        return found

    def stream(self, sql):
        self.streamed.append(sql)
        place = len(self.rows)
        self.rows.append(0)
        for batch in super().stream(sql):
            self.rows[place] += batch.num_rows
            yield batch
