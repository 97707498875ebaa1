"""The counted records of a table with their packed keys, as plain SQL over the engine gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.bringing import require_brought
from gamekeeper.data.engine.gate import RECORD
from gamekeeper.data.keys.packing import KeyPacking, pack_keys


@dataclass(frozen=True, slots=True)
class KeyedRecords:
    """The records that are counted on some keys."""

    coded: CodedTable
    packing: KeyPacking
    excluding: bool
    person: str = ""
    """The column that tells whose a record is, where one record of each person is counted."""

    def select(self, *columns: str) -> str:
        """Return the counted records, with their keys and further columns, as a subquery."""
        chosen = ", ".join([*self.packing.expressions(), *columns])
        tests = [f"{v} > {MISSING}" for v in self.packing.columns] if self.excluding else []
        if self.person:
            # The first of those that can be counted: a missing cell of one does not cost the person.
            among = f" WHERE {' AND '.join(tests)}" if tests else ""
            first = f"SELECT MIN({RECORD}) FROM {self.coded.relation}{among} GROUP BY {self.person}"
            tests.append(f"{RECORD} IN ({first})")
        kept = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"(SELECT {chosen} FROM {self.coded.relation}{kept}) AS s"

    def grouped(self, sums: Sequence[str], *columns: str, by: Sequence[str] = ()) -> str:
        """Return a query of sums per distinct key, over keys and further columns.

        With `by` there is a row for each key and each value of these columns that go together.
        """
        keys = ", ".join([*self.packing.names, *by])
        return f"SELECT {', '.join([keys, *sums])} FROM {self.select(*columns)} GROUP BY {keys}"

    def diversity(self, column: str) -> str:
        """Return a query of the number of values of a column, `l`, per distinct key, with `n`."""
        keys = ", ".join(self.packing.names)
        pairs = f"SELECT {keys}, {column} AS y, COUNT(*) AS n FROM {self.select(column)}"
        values = f"SUM(CASE WHEN y > {MISSING} THEN 1 ELSE 0 END)"
        return (
            f"SELECT {keys}, CAST({values} AS BIGINT) AS l, CAST(SUM(n) AS BIGINT) AS n "
            f"FROM ({pairs} GROUP BY {keys}, {column}) AS p GROUP BY {keys}"
        )

    def joined(self, relation: str, *columns: str) -> str:
        """Return the counted records `s` with the row of their key in a relation, `c`."""
        equal = " AND ".join(f"s.{name} = c.{name}" for name in self.packing.names)
        return f"{self.select(*columns)} JOIN {relation} AS c ON {equal}"

    def per_record(
        self, relation: str, column: str, *, kind: type[Any] = np.int64, fill: int = 0
    ) -> npt.NDArray[Any]:
        """Return a column of a relation with one row per key as one cell per record of the file.

        Records that are not counted have `fill`. Keys are never NULL, so that the join finds each
        counted record exactly once.
        """
        n_records, row_bytes = self.coded.n_records, np.dtype(kind).itemsize
        require_brought(self.coded.engine, n_records, row_bytes, "results of records")
        made = np.full(n_records, fill, dtype=kind)
        query = f"SELECT s.{RECORD}, c.{column} FROM {self.joined(relation, RECORD)}"
        for batch in self.coded.engine.stream(query):
            made[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
        return made

    def records(self) -> npt.NDArray[np.int64]:
        """Return the places of the counted records in the file, in order."""
        if not self.excluding and not self.person:
            return np.arange(self.coded.n_records, dtype=np.int64)
        require_brought(self.coded.engine, self.coded.n_records, 8, "numbers of records")
        batches = self.coded.engine.stream(f"SELECT {RECORD} FROM {self.select(RECORD)}")
        found = [batch.column(0).to_numpy() for batch in batches]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def keyed_records(
    coded: CodedTable, keys: Sequence[str], *, excluding: bool, person: str = ""
) -> KeyedRecords:
    """Return the records of a table with their keys; without incomplete ones when `excluding`.

    With `person`, a variable that tells whose a record is, the first record of each person.
    """
    packing = pack_keys([coded.column(key) for key in keys], coded.n_codes(keys))
    return KeyedRecords(coded, packing, excluding, coded.column(person) if person else "")
