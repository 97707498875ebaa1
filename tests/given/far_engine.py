"""An engine that says that it is elsewhere, and is of this process: DuckDB behind the same gate.

What is refused, counted or written otherwise for an engine elsewhere is so here, at the price of a
local query. `made` has the statements that it was asked, so that a test can tell what came here.
"""

from __future__ import annotations

from gamekeeper.data.engine.duckdb_engine import DuckDBEngine


class FarEngine(DuckDBEngine):
    def __init__(self, **options):
        super().__init__(**{"memory_limit": "500MB", "threads": 1, **options})
        self.streamed = []

    @property
    def is_local(self):
        return False

    def stream(self, sql):
        self.streamed.append(sql)
        return super().stream(sql)
