"""A file as integers: its records in an engine, and the codebook that says what they mean.

A table with other cells in some columns, or with some of the records only, is kept by the same
engine. Its fingerprint is that of its content, so that the same cells have the same one however they
came about. Two tables are brought to the same codes by their words: categories are the same where
these are, and the codes of both follow the order of all words that occur in either.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike, NDArray

from gamekeeper.arrow import pa
from gamekeeper.data.coding.codebook import MISSING, Codebook, CodedVariable, Recode, sorted_values
from gamekeeper.data.engine import gate
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of, did_you_mean, quoted, there_are

_LOADED_ROWS = 1 << 20


class CodedTable:
    """The coded records of a file, kept by an engine.

    - `engine`, `relation`: who keeps the codes and under which name: column `record`, then one
      column of codes per variable of the codebook and one of floating point numbers per name in
      `numbers`, named as `gamekeeper.data.engine.gate` says. The relation is dropped when the table
      is no longer used.
    - `fingerprint`: sixteen hexadecimal digits that stand for the data.
    - `numbers`: the names of numeric columns, such as weights.
    - `keeps`: whatever must live as long as the relation, such as the table that it is a view of.

    Examples
    --------
    >>> table = coded_from_codes([[1, 2], [1, 0]], ["sex", "age"])
    >>> table
    CodedTable(2 records, 2 variables)
    >>> table.matrix(["age", "sex"]).tolist()
    [[2, 1], [0, 1]]
    """

    MADE_BY = (
        "gk.code_frame(frame, columns), or of a file gk.code_source(gk.open_source(path), columns)"
    )

    def __init__(
        self,
        engine: gate.Engine,
        relation: str,
        codebook: Codebook,
        n_records: int,
        fingerprint: str,
        numbers: tuple[str, ...] = (),
        *,
        keeps: tuple[object, ...] = (),
    ) -> None:
        self.engine = engine
        self.relation = relation
        self.codebook = codebook
        self.n_records = n_records
        self.fingerprint = fingerprint
        self.numbers = numbers
        self._keeps = keeps
        self._places = {name: place for place, name in enumerate(codebook.names)}
        weakref.finalize(self, engine.drop, relation).atexit = False

    def column(self, variable: str) -> str:
        """Return the name of the relation's column with the codes of a variable."""
        return gate.code_column(self._places[self.codebook[variable].name])

    def column_of_number(self, name: str) -> str:
        """Return the name of the relation's column with the numbers of a numeric column."""
        if name not in self.numbers:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The numbers of column {quoted([name])} were asked for.",
                "No such column was read as numbers.",
                did_you_mean(name, self.numbers),
            )
        return gate.number_column(self.numbers.index(name))

    def n_codes(self, variables: Sequence[str] | None = None) -> tuple[int, ...]:
        """Return how many codes variables have, with the one of a missing cell."""
        names = self.codebook.names if variables is None else variables
        return tuple(self.codebook[name].n_codes for name in names)

    def matrix(self, variables: Sequence[str] | None = None) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes, records in the order of the file, one column per variable.

        The type is the smallest of 1, 2 or 4 bytes that holds every code.
        """
        names = list(self.codebook.names if variables is None else variables)
        columns = [self.column(name) for name in names]
        kind = np.dtype(gate.matrix_type(self.n_codes(names)))
        gate.require_brought(
            self.engine, self.n_records, len(names) * kind.itemsize, "records of codes"
        )
        made = np.zeros((self.n_records, len(names)), dtype=kind)
        if not names:
            return made
        chosen = ", ".join([gate.RECORD, *columns])
        for batch in self.engine.stream(f"SELECT {chosen} FROM {self.relation}"):
            records = batch.column(0).to_numpy()
            block = np.empty((len(records), len(names)), dtype=made.dtype)
            for place in range(len(names)):
                block[:, place] = batch.column(place + 1).to_numpy()
            made[records] = block
        return made

    def codes(self, variable: str) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes of one variable, records in the order of the file."""
        return self.matrix([variable])[:, 0]

    def codes_at(
        self, variable: str, places: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.unsignedinteger]:
        """Return the codes of one variable of some records, by their places in the file from 0.

        Examples
        --------
        >>> coded_from_codes([[1], [3], [2]], ["age"]).codes_at("age", np.array([2, 0])).tolist()
        [2, 1]
        """
        if self.engine.is_local or 2 * len(places) > self.n_records:
            return self.codes(variable)[places]
        wanted = load_codes(self.engine, places[:, None], [self.n_records])
        made = np.zeros(len(places), dtype=gate.matrix_type(self.n_codes([variable])))
        query = (
            f"SELECT w.{gate.RECORD}, r.{self.column(variable)} FROM {wanted} AS w "
            f"JOIN {self.relation} AS r ON r.{gate.RECORD} = w.{gate.code_column(0)}"
        )
        try:
            for batch in self.engine.stream(query):
                made[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
        finally:
            self.engine.drop(wanted)
        return made

    def counts(self, variables: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
        """Return how many records have each code, by variable; counted by the engine, in one query.

        Examples
        --------
        >>> coded_from_codes([[1], [3], [1], [0]], ["age"]).counts(["age"])["age"].tolist()
        [1, 2, 0, 1]
        """
        made = {name: np.zeros(self.codebook[name].n_codes, np.int64) for name in variables}
        if not made:
            return made
        parts = [
            f"SELECT {place} AS place, CAST({self.column(name)} AS BIGINT) AS code, COUNT(*) AS n "
            f"FROM {self.relation} GROUP BY {self.column(name)}"
            for place, name in enumerate(made)
        ]
        found = self.engine.query(" UNION ALL ".join(parts))
        places, codes, counts = (column.to_numpy() for column in found.columns)
        for place, own in enumerate(made.values()):
            own[codes[places == place]] = counts[places == place]
        return made

    def number(self, name: str) -> npt.NDArray[np.float64]:
        """Return a numeric column, records in the order of the file; NaN where it is missing."""
        column = self.column_of_number(name)
        gate.require_brought(self.engine, self.n_records, 8, "numbers of records")
        made = np.full(self.n_records, np.nan)
        for batch in self.engine.stream(f"SELECT {gate.RECORD}, {column} FROM {self.relation}"):
            made[batch.column(0).to_numpy()] = batch.column(1).to_numpy(zero_copy_only=False)
        return made

    def n_below(self, name: str, limit: float) -> int:
        """Return how many numbers of a numeric column are below a limit; counted by the engine.

        Examples
        --------
        >>> coded_from_codes([[1], [2]], ["age"], numbers={"w": [0.5, 2]}).n_below("w", 1.0)
        1
        """
        found = self.engine.query(
            f"SELECT COUNT(*) AS n FROM {self.relation} "
            f"WHERE {self.column_of_number(name)} < CAST('{limit!r}' AS DOUBLE)"
        )
        return found.column(0)[0].as_py()

    def with_number_coded(self, name: str, most: int) -> CodedTable | None:
        """Return the table with a numeric column as a variable too, one category for each number.

        None where it has a single number, more than `most`, or a variable of that name.

        Examples
        --------
        >>> table = coded_from_codes([[1], [2], [1]], ["age"], numbers={"w": [2.5, 10, 2.5]})
        >>> coded = table.with_number_coded("w", 2)
        >>> coded.codebook["w"].words, coded.codes("w").tolist(), table.with_number_coded("w", 1)
        (('missing', '2.5', '10'), [1, 2, 1], None)
        """
        column = self.column_of_number(name)
        found = self.engine.query(
            f"SELECT DISTINCT {column} AS w FROM {self.relation} WHERE {column} IS NOT NULL "
            f"LIMIT {most + 1}"
        )
        numbers = sorted(found.column(0).to_pylist())
        if name in self.codebook or not 1 < len(numbers) <= most:
            return None
        whens = " ".join(
            f"WHEN {column} = CAST('{number!r}' AS DOUBLE) THEN {code}"
            for code, number in enumerate(numbers, 1)
        )
        words = tuple(repr(number).removesuffix(".0") for number in numbers)
        variable = CodedVariable(name, ("missing", *words), ("", *words))
        relation = self.engine.view(
            f"SELECT r.*, CAST(CASE {whens} ELSE {MISSING} END AS {gate.code_sql(variable.n_codes)})"
            f" AS {gate.code_column(len(self.codebook))} FROM {self.relation} AS r"
        )
        return CodedTable(
            self.engine, relation, Codebook((*self.codebook.variables, variable)), self.n_records,
            self.fingerprint, self.numbers, keeps=(self,),
        )  # fmt: skip

    def recoded(self, recodes: Sequence[Recode]) -> CodedTable:
        """Return the table with some variables recoded, as a view: no record is copied.

        Examples
        --------
        >>> table = coded_from_codes([[1], [3], [0]], ["age"])
        >>> coarse = Recode("age", [0, 1, 1, 2], ("missing", "young", "old"))
        >>> table.recoded([coarse]).codes("age").tolist()
        [1, 2, 0]
        """
        if not recodes:
            return self
        self._check_recodes(recodes)
        by_name = {recode.variable: recode for recode in recodes}
        variables: list[CodedVariable] = []
        columns = [f"r.{gate.RECORD} AS {gate.RECORD}"]
        joins: list[str] = []
        maps: list[str] = []
        for place, variable in enumerate(self.codebook.variables):
            column = gate.code_column(place)
            recode = by_name.get(variable.name)
            if recode is None:
                variables.append(variable)
                columns.append(f"r.{column} AS {column}")
                continue
            variables.append(
                CodedVariable(
                    recode.new_name, recode.words, ("", *recode.words[1:]), variable.label
                )
            )
            maps.append(load_codes(self.engine, recode.codes[:, None], [len(recode.words)]))
            # The map's record is the old code. Every code has one, so the join loses no record.
            joins.append(f" JOIN {maps[-1]} ON {maps[-1]}.{gate.RECORD} = r.{column}")
            columns.append(f"{maps[-1]}.{gate.code_column(0)} AS {column}")
        columns += [f"r.{gate.number_column(place)}" for place in range(len(self.numbers))]
        chosen = ", ".join(columns)
        relation = self.engine.view(f"SELECT {chosen} FROM {self.relation} r{''.join(joins)}")
        book = Codebook(tuple(variables))
        made = CodedTable(
            self.engine, relation, book, self.n_records,
            _fingerprint_of_recodes(self.fingerprint, recodes), self.numbers, keeps=(self,),
        )  # fmt: skip
        for name in maps:
            weakref.finalize(made, self.engine.drop, name).atexit = False
        return made

    def __repr__(self) -> str:
        numbers = f", {count_of(len(self.numbers), 'numeric column')}" if self.numbers else ""
        variables = count_of(len(self.codebook), "variable")
        return f"CodedTable({count_of(self.n_records, 'record')}, {variables}{numbers})"

    def _check_recodes(self, recodes: Sequence[Recode]) -> None:
        names = self.codebook.names
        problems: list[Problem] = []
        for recode in recodes:
            where = f"variable {quoted([recode.variable])}"
            if recode.variable not in names:
                near = did_you_mean(recode.variable, names)
                found = "it is not among the coded variables."
                problems.append(Problem(Reason.UNKNOWN_NAME, where, found, near))
            elif len(recode.codes) != self.codebook[recode.variable].n_codes:
                n_codes = self.codebook[recode.variable].n_codes
                found = f"it has {n_codes:,} codes, and {len(recode.codes):,} are recoded."
                problems.append(Problem(Reason.BAD_OPTION, where, found))
        counts = Counter(recode.variable for recode in recodes)
        problems += [
            Problem(Reason.DUPLICATE, f"variable {quoted([name])}", f"{count} recodes are given.")
            for name, count in counts.items()
            if count > 1
        ]
        new = {recode.variable: recode.new_name for recode in recodes}
        names_after = Counter(new.get(name, name) for name in names)
        problems += [
            Problem(
                Reason.DUPLICATE, f"variable {quoted([name])}", f"{count} would have this name."
            )
            for name, count in names_after.items()
            if count > 1
        ]
        refuse(
            problems,
            f"{count_of(len(recodes), 'variable')} were to be recoded.",
            f"{there_are(len(problems), 'problem')}.",
        )


def coded_from_codes(
    codes: npt.ArrayLike,
    names: Sequence[str],
    words: Sequence[Sequence[str]] | None = None,
    *,
    numbers: dict[str, npt.ArrayLike] | None = None,
    engine: gate.Engine | None = None,
) -> CodedTable:
    """Return a coded table of codes that are already there.

    Parameters
    ----------
    codes
        One row per record, one column per variable: 0 for a missing cell, values from 1.
    words
        Per variable what each code means, the missing cell first; the codes as text when None.
    numbers
        Numeric columns, such as weights, by name.
    engine
        Who keeps the records; one that the process shares when None.

    Examples
    --------
    >>> table = coded_from_codes([[1], [2]], ["sex"], [("missing", "f", "m")])
    >>> table.codebook["sex"].words
    ('missing', 'f', 'm')
    """
    matrix = np.asarray(codes)
    if matrix.size == 0 and matrix.ndim == 1:
        matrix = np.zeros((0, len(names)), dtype=np.int64)
    columns = {name: np.asarray(cells, dtype=np.float64) for name, cells in (numbers or {}).items()}
    _check_codes(matrix, names, words, columns)
    tops = [int(matrix[:, place].max(initial=MISSING)) for place in range(matrix.shape[1])]
    if words is None:
        words = [("missing", *map(str, range(1, top + 1))) for top in tops]
    variables = tuple(
        CodedVariable(name, tuple(own), ("", *map(str, range(1, len(own)))))
        for name, own in zip(names, words, strict=True)
    )
    if engine is None:
        from gamekeeper.data.engine.duckdb_engine import default_engine

        engine = default_engine()
    relation = load_codes(
        engine, matrix, [variable.n_codes for variable in variables], list(columns.values())
    )
    digest = sha256(repr((tuple(names), tuple(map(tuple, words)), matrix.shape)).encode())
    digest.update(np.ascontiguousarray(matrix, dtype="<i8").data)
    for name, cells in columns.items():
        digest.update(name.encode("utf-8", "replace"))
        digest.update(np.ascontiguousarray(cells, dtype="<f8").data)
    return CodedTable(
        engine, relation, Codebook(variables), len(matrix), digest.hexdigest()[:16], tuple(columns)
    )


def load_codes(
    engine: gate.Engine,
    codes: npt.NDArray[np.integer],
    n_codes: Sequence[int],
    numbers: Sequence[npt.NDArray[np.float64]] = (),
) -> str:
    """Let an engine keep a matrix of codes and columns of numbers; return the relation's name."""
    fields = [
        (gate.code_column(place), gate.code_type(count)) for place, count in enumerate(n_codes)
    ]
    fields += [(gate.number_column(place), pa.float64()) for place in range(len(numbers))]
    schema = pa.schema(fields)

    def batch(start: int) -> pa.RecordBatch:
        rows = slice(start, start + _LOADED_ROWS)
        arrays = [
            pa.array(codes[rows, place].astype(kind.to_pandas_dtype()))
            for place, (_, kind) in enumerate(fields[: len(n_codes)])
        ]
        arrays += [pa.array(column[rows]) for column in numbers]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    return engine.load(schema, (batch(start) for start in range(0, len(codes), _LOADED_ROWS)))


def _check_codes(
    matrix: npt.NDArray[np.integer],
    names: Sequence[str],
    words: Sequence[Sequence[str]] | None,
    numbers: dict[str, npt.NDArray[np.float64]],
) -> None:
    problems: list[str] = []
    if matrix.ndim != 2 or not np.issubdtype(matrix.dtype, np.integer):
        problems.append(f"The codes have {matrix.ndim} dimensions and type {matrix.dtype}.")
    else:
        if matrix.shape[1] != len(names):
            problems.append(f"There are {matrix.shape[1]} columns and {len(names)} names.")
        negative = int(np.count_nonzero(matrix < 0))
        if negative:
            problems.append(f"{count_of(negative, 'code')} below 0.")
        if words is not None and len(words) != len(names):
            problems.append(f"There are words of {len(words)} variables and {len(names)} names.")
        elif words is not None and len(names) == matrix.shape[1]:
            for name, own, place in zip(names, words, range(len(names)), strict=True):
                outside = int(np.count_nonzero(matrix[:, place] >= len(own)))
                if outside:
                    problems.append(
                        f"{count_of(outside, 'record')} of variable {quoted([name])} "
                        "with a code that has no word."
                    )
                if len(set(own)) < len(own):
                    problems.append(f"Two words of variable {quoted([name])} are the same.")
        problems += [
            f"The numbers {quoted([name])} have shape {cells.shape}, not one per record."
            for name, cells in numbers.items()
            if cells.shape != (len(matrix),)
        ]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        problems.append(f"Given more than once: {quoted(twice)}.")
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "A table was to be made of codes.",
            " ".join(problems),
            "Give one row of integers per record, 0 for a missing cell and values from 1, and one "
            "name per column.",
        )


def _fingerprint_of_recodes(fingerprint: str, recodes: Sequence[Recode]) -> str:
    told = [(recode.variable, recode.new_name, recode.words) for recode in recodes]
    digest = sha256(repr((fingerprint, told)).encode("utf-8", "replace"))
    for recode in recodes:
        digest.update(np.ascontiguousarray(recode.codes, dtype="<i8").data)
    return digest.hexdigest()[:16]


def replace_cells(
    table: CodedTable,
    codes: Mapping[str, NDArray[np.integer[Any]]] | None = None,
    *,
    numbers: Mapping[str, NDArray[np.float64]] | None = None,
    variables: Mapping[str, CodedVariable] | None = None,
    records: ArrayLike | None = None,
) -> CodedTable:
    """Return a table with other codes or numbers in some columns, all else as it was.

    - `codes`: by variable its new codes, one per record, places in the words of that variable.
    - `numbers`: by numeric column its new numbers, one per record.
    - `variables`: by variable what its new codes mean, where that is not what the old ones meant.
    - `records`: the places of the records to keep, in their order; all when None. Codes and numbers
      are those of all records.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> table = coded_from_codes([[1, 2], [2, 1]], ["sex", "age"])
    >>> replace_cells(table, {"age": np.array([0, 1])}).matrix().tolist()
    [[1, 0], [2, 1]]
    """
    known = dict(variables or {})
    book = Codebook(tuple(known.get(v.name, v) for v in table.codebook))
    matrix = table.matrix()
    widest = max((v.n_codes for v in book), default=1)
    if widest > np.iinfo(matrix.dtype).max + 1:
        matrix = matrix.astype(np.uint32)
    for name, cells in (codes or {}).items():
        n_codes = book[name].n_codes
        assert int(np.max(cells, initial=0)) < n_codes, "a code has no word"
        matrix[:, table.codebook.names.index(name)] = cells
    columns = [(numbers or {}).get(name, None) for name in table.numbers]
    floats = [
        table.number(name) if cells is None else np.asarray(cells, dtype=np.float64)
        for name, cells in zip(table.numbers, columns, strict=True)
    ]
    if records is not None:
        places = np.asarray(records)
        matrix, floats = matrix[places], [cells[places] for cells in floats]
    relation = load_codes(table.engine, matrix, [v.n_codes for v in book], floats)
    digest = sha256(repr([(v.name, v.words, v.values) for v in book]).encode("utf-8", "replace"))
    digest.update(repr((table.numbers, matrix.shape)).encode("utf-8", "replace"))
    digest.update(np.ascontiguousarray(matrix, dtype="<u4").data)
    for cells in floats:
        digest.update(np.ascontiguousarray(cells, dtype="<f8").data)
    return CodedTable(
        table.engine, relation, book, len(matrix), digest.hexdigest()[:16], table.numbers
    )


def aligned(
    first: CodedTable, second: CodedTable, variables: Sequence[str]
) -> tuple[CodedTable, CodedTable]:
    """Return two tables in which the same code of a variable means the same.

    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> sample = coded_from_codes([[1], [2]], ["sex"], [("missing", "f", "m")])
    >>> everybody = coded_from_codes([[1], [2]], ["sex"], [("missing", "m", "x")])
    >>> both = aligned(sample, everybody, ["sex"])
    >>> [table.matrix().ravel().tolist() for table in both]
    [[1, 2], [2, 3]]
    """
    pairs = [(first.codebook[name], second.codebook[name]) for name in variables]
    unlike = [(one, other) for one, other in pairs if one.words != other.words]
    recodes = [_recodes(one, other) for one, other in unlike]
    return (
        first.recoded([recode for recode, _ in recodes]),
        second.recoded([recode for _, recode in recodes]),
    )


def _recodes(one: CodedVariable, other: CodedVariable) -> tuple[Recode, Recode]:
    known = set(one.words[MISSING + 1 :]) | set(other.words[MISSING + 1 :])
    words = (one.words[MISSING], *sorted_values(known))
    places = {word: code for code, word in enumerate(words)}
    return (
        Recode(one.name, [MISSING, *(places[word] for word in one.words[1:])], words),
        Recode(other.name, [MISSING, *(places[word] for word in other.words[1:])], words),
    )


FIRST_RECORDS = 1 << 14


def first_codes(source: Source, columns: Sequence[str]) -> NDArray[np.uint32]:
    """Return codes of the first records, a row each; 0 is an empty cell.

    Equal cells have equal codes, which are not those of a codebook.
    """
    batches: list[pa.RecordBatch] = []
    n_read = 0
    for batch in source.batches(columns):
        batches.append(batch.slice(0, FIRST_RECORDS - n_read))
        n_read += batches[-1].num_rows
        if n_read == FIRST_RECORDS:
            break
    codes = np.zeros((n_read, len(columns)), dtype=np.uint32)
    for number in range(len(columns)):
        cells = pa.chunked_array([batch.column(number) for batch in batches]).combine_chunks()
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        places = cells.dictionary_encode().indices
        codes[:, number] = places.fill_null(-1).to_numpy(zero_copy_only=False) + 1
    return codes
