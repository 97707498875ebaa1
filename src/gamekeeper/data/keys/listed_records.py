"""The counted records with their keys: in the engine, and as rows of arrays, each record or each key.

The codes of a key are the digits of one number, or of several. A number takes as many variables as
fit in 63 bits, so that the twelve variables of a census file are grouped as one column. Numbers are
in the order of the keys.

Up to a number of records, and always where they are on this machine, every counted record has a row.
Above it an engine elsewhere keeps them, and a row stands for all records with one key (and of one
stratum, where strata have sampling fractions of their own): what depends on these alone is the same
for all of them. So the same sums, each row as often as it counts, hold for either, and results of rows
are joined to the records where those are (`gamekeeper.data.keys.writing.write_listed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine import gate
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import count_of, number_text

if TYPE_CHECKING:
    from gamekeeper.data.keys.key_table import KeyTable

_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class KeyPacking:
    """How the columns of a key become numbers; `groups` are the places packed together."""

    columns: tuple[str, ...]
    n_codes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns with the numbers."""
        return tuple(f"k{number}" for number in range(len(self.groups)))

    def expressions(self) -> list[str]:
        """Return the numbers as plain SQL."""
        return [
            f"{self._digits(group)} AS {name}"
            for name, group in zip(self.names, self.groups, strict=True)
        ]

    def unpack(self, numbers: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes of keys, one row per key, given the columns with their numbers."""
        rows = len(numbers[0])
        codes = np.empty((rows, len(self.columns)), dtype=gate.matrix_type(self.n_codes))
        for number, group in zip(numbers, self.groups, strict=True):
            rest = number
            for place in reversed(group):
                rest, codes[:, place] = np.divmod(rest, self.n_codes[place])
        return codes

    def _digits(self, group: tuple[int, ...]) -> str:
        text = f"CAST({self.columns[group[0]]} AS BIGINT)"
        for place in group[1:]:
            text = f"({text} * {self.n_codes[place]} + {self.columns[place]})"
        return text


def pack_keys(columns: Sequence[str], n_codes: Sequence[int]) -> KeyPacking:
    """Return how to pack the columns of a key.

    >>> pack_keys(["v0", "v1"], [3, 10]).expressions()
    ['(CAST(v0 AS BIGINT) * 10 + v1) AS k0']
    """
    groups: list[list[int]] = []
    span = 1
    for place, count in enumerate(n_codes):
        if not groups or span * count > _LARGEST:
            groups.append([])
            span = 1
        groups[-1].append(place)
        span *= count
    return KeyPacking(tuple(columns), tuple(n_codes), tuple(map(tuple, groups)))


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
            first = f"SELECT MIN({gate.RECORD}) FROM {self.coded.relation}{among} GROUP BY {self.person}"
            tests.append(f"{gate.RECORD} IN ({first})")
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
        gate.require_brought(self.coded.engine, n_records, row_bytes, "results of records")
        made = np.full(n_records, fill, dtype=kind)
        query = f"SELECT s.{gate.RECORD}, c.{column} FROM {self.joined(relation, gate.RECORD)}"
        for batch in self.coded.engine.stream(query):
            made[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
        return made

    def records(self) -> npt.NDArray[np.int64]:
        """Return the places of the counted records in the file, in order."""
        if not self.excluding and not self.person:
            return np.arange(self.coded.n_records, dtype=np.int64)
        gate.require_brought(self.coded.engine, self.coded.n_records, 8, "numbers of records")
        batches = self.coded.engine.stream(f"SELECT {gate.RECORD} FROM {self.select(gate.RECORD)}")
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


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DistinctKeys:
    """One row for each different key, in the order in which they first occur in the file.

    - `counts`: how many records have it.
    - `first`: the place in the file, from 0, of the first that has it; rising.
    """

    codes: npt.NDArray[np.unsignedinteger]
    counts: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return f"DistinctKeys({len(self.counts):,} keys)"


def distinct_keys(table: KeyTable) -> DistinctKeys:
    """Return the different keys of the counted records.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> found = distinct_keys(count_keys(coded_from_codes([[2], [1], [2]], ["sex"]), ["sex"]))
    >>> found.codes.tolist(), found.counts.tolist(), found.first.tolist()
    ([[2], [1]], [2, 1], [0, 1])
    """
    counted, engine = table.counted, table.coded.engine
    names = counted.packing.names
    # Twice, as they are put in order.
    row_bytes = 2 * (8 * (len(names) + 2) + len(table.keys))
    gate.require_brought(engine, table.n_classes, row_bytes, "different keys", gate.FEWER_KEYS)
    sums = ["COUNT(*) AS n", f"MIN({gate.RECORD}) AS first_record"]
    found = engine.query(counted.grouped(sums, gate.RECORD))
    numbers = [found.column(name).to_numpy() for name in names]
    first = found.column("first_record").to_numpy()
    order = np.argsort(first)
    return DistinctKeys(
        counted.packing.unpack([column[order] for column in numbers]),
        found.column("n").to_numpy()[order],
        first[order],
    )


Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ListedRecords:
    """The rows of a key table; `keys` has those of its different keys, None where all records have one.

    Rows of records are in the order of the file, those of keys in the order of `KeyTable.classes()`.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> found = count_keys(coded_from_codes([[2], [1], [2]], ["sex"]), ["sex"]).listed
    >>> found.classes().tolist(), found.sizes().tolist(), int(found.counts.sum())
    ([1, 0, 1], [2, 1, 2], 3)
    """

    table: KeyTable
    keys: pa.Table | None

    def __len__(self) -> int:
        return self.table.n_records if self.keys is None else self.keys.num_rows

    def __repr__(self) -> str:
        return f"ListedRecords({len(self):,} rows for {count_of(self.table.n_records, 'record')})"

    @property
    def by_key(self) -> bool:
        """Whether a row stands for all records with a key."""
        return self.keys is not None

    @property
    def n_elsewhere(self) -> int:
        """How many records of the file have no row of their own."""
        return self.table.coded.n_records - len(self) if self.by_key else 0

    @property
    def counts(self) -> Integers:
        """How many records each row stands for."""
        if self.keys is None:
            # As many cells as rows, and no memory.
            return np.broadcast_to(np.int64(1), len(self))
        return self.keys["n"].to_numpy()

    @property
    def places(self) -> Integers:
        """The place in the file, from 0, of each row's record, or of the first that it stands for."""
        return self.table.records if self.keys is None else self.keys["first_record"].to_numpy()

    def numbers(self) -> list[Integers]:
        """Return the packed keys of rows that stand for keys, a column for each number."""
        assert self.keys is not None
        return [self.keys[name].to_numpy() for name in self.table.counted.packing.names]

    def strata(self) -> Integers | None:
        """Return the stratum of rows that stand for the records of one; None where they do not."""
        if self.keys is None or "stratum" not in self.keys.column_names:
            return None
        return self.keys["stratum"].to_numpy().astype(np.int64)

    def codes(self) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes of each row on the keys."""
        if self.keys is None:
            return self.table.matrix()
        return self.table.counted.packing.unpack(self.numbers())

    def classes(self) -> Integers:
        """Return for each row that of its key in `KeyTable.classes()`."""
        if self.keys is None:
            found = self.table.class_numbers()
            return found[found >= 0]
        return key_numbers(self.numbers())

    def sizes(self) -> Integers:
        """Return the size of each row's class."""
        if self.keys is None:
            return self.table.class_sizes()[self.places]
        return self.keys["size"].to_numpy()

    def released(self) -> Integers:
        """Return how many records have the very key of each row, missing cells and all."""
        if self.keys is None:
            return self.table.released_sizes()[self.places]
        return self.keys["released"].to_numpy()

    def weights(self) -> npt.NDArray[np.float64]:
        """Return the sum of the weights in each row's class, which was counted with weights."""
        if self.keys is None:
            return self.table.class_weights()[self.places]
        return self.keys["weight"].to_numpy()

    def fractions(self) -> npt.NDArray[np.float64]:
        """Return the sampling fraction of each row, of a file whose fraction is known."""
        if self.keys is None:
            return self.table.record_fractions()[self.places]
        return self.table.fractions_of(self.strata(), len(self))

    def values_of(self, variable: str) -> tuple[Integers, Integers, Integers]:
        """Return which codes of another variable occur in which class, and how often.

        Lines of class, code and count: one for each row, or where rows stand for keys one for each
        pair of class and code.
        """
        if self.keys is None:
            codes = self.table.coded.codes(variable)[self.places].astype(np.int64)
            return self.classes(), codes, self.counts
        counted, column = self.table.counted, self.table.coded.column(variable)
        names = ", ".join([*counted.packing.names, column])
        n_codes = self.table.coded.codebook[variable].n_codes
        pairs = counted.grouped(["COUNT(*) AS n"], column, by=[column])
        found = self.table.brought(
            f"SELECT * FROM ({pairs}) AS g ORDER BY {names}",
            min(self.table.n_records, self.table.n_classes * n_codes),
        )
        numbers = [found.column(name).to_numpy() for name in counted.packing.names]
        codes = found.column(column).to_numpy().astype(np.int64)
        return key_numbers(numbers), codes, found.column("n").to_numpy()

    def whole_keys(self) -> ListedRecords:
        """Return rows of keys where rows are those of keys and strata; else these."""
        if self.keys is None or self.strata() is None:
            return self
        _, first = np.unique(self.classes(), return_index=True)
        earliest = np.minimum.reduceat(self.places, first) if len(first) else self.places
        table = self.keys.take(pa.array(first)).drop_columns(["stratum", "n", "first_record"])
        table = table.append_column("n", table["released"])
        return ListedRecords(self.table, table.append_column("first_record", pa.array(earliest)))

    def row_of(self, place: int) -> int | None:
        """Return the row of a record, by its place in the file from 0; None where it was left out."""
        if self.keys is None:
            records = self.table.records
            row = int(np.searchsorted(records, place))
            return row if row < len(records) and records[row] == place else None
        counted = self.table.counted
        names = list(counted.packing.names)
        asked = [gate.RECORD]
        if self.strata() is not None:
            asked.append(f"{self.table.coded.column(self.table.strata)} AS stratum")
            names.append("stratum")
        found = self.table.coded.engine.query(
            f"SELECT {', '.join(names)} FROM {counted.select(*asked)} WHERE {gate.RECORD} = {int(place)}"
        )
        if not found.num_rows:
            return None
        same = np.ones(len(self), dtype=bool)
        for name in names:
            same &= self.keys[name].to_numpy() == found.column(name)[0].as_py()
        return int(np.flatnonzero(same)[0])

    def table_of(self, columns: Mapping[str, npt.NDArray[Any]]) -> pa.Table:
        """Return results of rows as a table that begins with `record`, the number in the file from 1.

        Where all records have a row, so do those that were left out, with empty cells. NaN is an
        empty cell.
        """
        if self.keys is not None:
            made = {"record": pa.array(self.places + 1)}
            for name, values in columns.items():
                absent = np.isnan(values) if values.dtype.kind == "f" else None
                made[name] = pa.array(values, mask=absent)
            return pa.table(made)
        n_file, places = self.table.coded.n_records, self.places
        left_out = np.ones(n_file, dtype=bool)
        left_out[places] = False
        made = {"record": pa.array(np.arange(1, n_file + 1))}
        for name, values in columns.items():
            whole, absent = np.zeros(n_file, dtype=values.dtype), left_out
            whole[places] = values
            if values.dtype.kind == "f":
                absent = left_out.copy()
                absent[places] |= np.isnan(values)
            made[name] = pa.array(whole, mask=absent)
        return pa.table(made)

    def require_records(self, what: str, do: str) -> None:
        """Refuse what compares single records where rows stand for keys.

        `what` needs them, in words; `do` is the way around, as a sentence without its full stop.
        """
        if self.by_key:
            raise LimitError(
                Reason.TOO_LARGE,
                f"{what} of {count_of(self.table.n_records, 'record')} was asked for.",
                f"{self.table.coded.engine.name} has them, and it takes every single one on this"
                f" machine: {number_text(gate.MOST_WRITTEN)} at most.",
                f"{do}. {gate.FEWER_RECORDS}.",
            )


def listed_keys(table: KeyTable) -> pa.Table | None:
    """Return the rows of different keys, where records stay elsewhere; None where they do not."""
    coded, counted = table.coded, table.counted
    if not gate.stays_elsewhere(coded.engine, coded.n_records):
        return None
    names = list(counted.packing.names)
    own = [coded.column(table.strata)] if table.fractions is not None else []
    n_rows = min(table.n_records, table.n_classes * len(table.fractions or [0]))
    # Several times, as they are unpacked and results are kept beside them.
    row_bytes = 8 * (len(names) + 20) + 4 * len(table.keys)
    gate.require_brought(coded.engine, n_rows, row_bytes, "different keys", gate.FEWER_KEYS)
    sums = ["COUNT(*) AS n", f"MIN({gate.RECORD}) AS first_record"]
    chosen = [
        *(f"g.{name}" for name in names),
        *(f"g.{column} AS stratum" for column in own),
        "g.n AS n",
        "g.first_record AS first_record",
        f"c.{table.size_column} AS size",
        "c.n AS released",
        *(["c.weight AS weight"] if table.weight else []),
    ]
    equal = " AND ".join(f"g.{name} = c.{name}" for name in names)
    order = ", ".join([*names, *(["stratum"] if own else [])])
    return coded.engine.query(
        f"SELECT {', '.join(chosen)} FROM ({counted.grouped(sums, gate.RECORD, *own, by=own)}) AS g "
        f"JOIN {table.relation} AS c ON {equal} ORDER BY {order}"
    )


def key_numbers(numbers: list[Integers]) -> Integers:
    """Number packed keys that are in order 0, 1, ..., the same for the same."""
    first = np.zeros(len(numbers[0]), dtype=bool)
    for column in numbers:
        first[1:] |= column[1:] != column[:-1]
    return np.cumsum(first)
