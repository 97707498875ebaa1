"""A first look at a file: its columns, what may be wrong with them, which may be keys.

Names of columns, counts and codes for missing from a fixed list of ours are shown. Values of the
file are shown only where they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.data.coding.codebook import MISSING, CodedVariable
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.missing_codes import suspected_codes
from gamekeeper.data.coding.source_coding import code_source
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.scenario.recoding import columns_of, plan_recodes
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, folded, quoted
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.microdata.need import Need, require_room
from gamekeeper.workbench.microdata.opening import opened_file
from gamekeeper.workbench.microdata.values import unmapped_problems
from gamekeeper.workbench.notices import scenario_notices
from gamekeeper.workbench.outputs import require_outputs
from gamekeeper.workbench.requests.looking import LookRequest

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_LISTED = 100
_NEARLY_ALL = 0.95
_LEAST_RECORDS = 10
_TRIED = 1_000
_MOST_AT_ONCE, _MOST_CELLS = 512, 1 << 20
_KEYS = re.compile(
    r"\b(age|birth|dob|sex|gender|region|area|county|district|municipality|province|state|place|"
    r"postcode|zip|nuts|marital|civil|education|qualification|occupation|job|profession|industry|"
    r"nace|isco|work|employment|country|nationality|citizenship|ethnic|ethnicity|race|religion|"
    r"language|household|children|tenure|dwelling|income|health|disability)\b"
)
_IDENTIFIERS = re.compile(
    r"\b(id|pid|hid|uuid|serial|identifier|name|email|phone|ssn|key|nr|number)\b"
)
_WEIGHTS = re.compile(r"\b(w|weight|weights|wgt|pweight|grossing)\b")


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What a first look says of a column."""

    column: str
    type: str
    levels: int
    missing: int
    missing_codes: str
    role: str
    why: str


@dataclass(frozen=True, repr=False)
class FileLook(Result):
    """The columns of a file, and which of them may be key variables."""

    name: str
    kind: str
    n_records: int
    columns: tuple[ColumnLook, ...]
    by: str
    values: tuple[tuple[str, str, int], ...]
    provenance: Provenance
    notices: tuple[str, ...] = ()
    """What to know of the scenario: what has changed since it was made, what of it is not used."""
    unfit: tuple[str, ...] = ()
    """Why the file does not fit the scenario as it is: columns, values and codes to be told of."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that may be key variables."""
        return tuple(one.column for one in self.columns if one.role == "key variable")

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {"records": self.n_records, "columns": len(self.columns), "keys": len(self.keys)}

    def sentences(self) -> list[str]:
        """Return what to know before the file is assessed."""
        n_columns = count_of(len(self.columns), "column")
        told = [f"{self.name} ({self.kind}): {count_of(self.n_records, 'record')}, {n_columns}."]
        told += [*self.notices, *self.unfit]
        suspected = [one.column for one in self.columns if one.missing_codes]
        if suspected:
            told.append(
                f"Values that look like codes for missing: {quoted(suspected)} (--missing-value)."
            )
        likely = [one.column for one in self.columns if one.role == "identifier"]
        if likely:
            told.append(f"Likely identifiers, which are no key variables: {quoted(likely)}.")
        if self.keys:
            told.append(
                f"Key variables to consider, by {self.by} (gamekeeper assess FILE):"
                f" --keys '{','.join(self.keys)}'."
            )
        else:
            told.append(
                f"No key variable is known by {self.by}: think of what an intruder may know."
            )
        return told

    def to_arrow(self) -> pa.Table:
        """Return one row per column."""
        import pyarrow as pa

        kinds = {"str": pa.string(), "int": pa.int64()}
        schema = pa.schema({item.name: kinds[str(item.type)] for item in fields(ColumnLook)})
        return pa.Table.from_pylist([asdict(one) for one in self.columns], schema)


def look_bytes(n_records: int, n_columns: int) -> int:
    """Return the bytes that a look takes at least: the codes of one column at a time.

    Measured with half a million and two million records, and with 6 and 24 columns.
    """
    return n_records * 14


def look_at(asked: LookRequest) -> FileLook:
    """Look at a file: its columns, missing cells, likely identifiers, possible key variables."""
    if asked.scenario and asked.environment is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Key variables of a scenario were to be found.",
            "The scenario is kept in an environment, and none is given.",
            "Name its store or folder (--environment).",
        )
    require_outputs(asked)
    source = opened_file(asked.file, asked.reading)
    require_room(source, source.names, Need(look_bytes))
    wanted: dict[str, str] = {}
    notices: tuple[str, ...] = ()
    problems: list[Problem] = []
    table = code_source(source, source.names)
    if asked.scenario and asked.environment is not None:
        with opened(asked.environment) as place:
            environment = place.environment
        scenario = environment.scenario(asked.scenario)
        notices = scenario_notices(scenario, environment)
        wanted, problems = _fit(asked, scenario, environment, table, source.decimal)
    codes: dict[str, list[str]] = {}
    for found in suspected_codes(table, decimal=source.decimal):
        codes.setdefault(found.variable, []).append(found.value)
    columns: list[ColumnLook] = []
    values: list[tuple[str, str, int]] = []
    for variable, counts in _counted(table):
        n_given = table.n_records - counts[MISSING]
        kind = _type(variable, source.decimal)
        role, why = _role(variable, n_given, kind, wanted.values() if asked.scenario else None)
        suspected = ", ".join(codes.get(variable.name, ()))
        levels = variable.n_codes - 1
        columns.append(
            ColumnLook(variable.name, kind, levels, counts[MISSING], suspected, role, why)
        )
        if asked.values and levels <= _MOST_LISTED:
            values += [(variable.name, variable.words[c], counts[c]) for c in range(1, levels + 1)]
    by = f"the scenario {quoted([asked.scenario])}" if asked.scenario else "their names"
    made = Provenance("first look", fingerprint=table.fingerprint, engine=table.engine.name)
    return FileLook(
        source.name,
        source.kind,
        table.n_records,
        tuple(columns),
        by,
        tuple(values),
        made,
        notices,
        tuple(f"{problem.where[0].upper()}{str(problem)[1:]}" for problem in problems),
    )


def _counted(table: CodedTable) -> Iterator[tuple[CodedVariable, list[int]]]:
    """Yield each variable with how many records have each of its codes; a few columns at a time."""
    variables = tuple(table.codebook)
    # To ask for a column takes longer the more there are: one by one, many would take for ever.
    step = max(1, min(_MOST_AT_ONCE, _MOST_CELLS // table.n_records))
    for first in range(0, len(variables), step):
        some = variables[first : first + step]
        codes = table.matrix([variable.name for variable in some])
        for place, variable in enumerate(some):
            counts = np.bincount(codes[:, place], minlength=variable.n_codes)
            yield variable, counts.tolist()


def _fit(
    asked: LookRequest,
    scenario: Scenario,
    environment: Environment,
    table: CodedTable,
    decimal: str,
) -> tuple[dict[str, str], list[Problem]]:
    """Return the column of each key variable that has one, and why the file does not fit as it is."""
    columns: dict[str, str] = {}
    problems: list[Problem] = []
    for key in scenario.keys:
        given = {key.variable: asked.columns[key.variable]} if key.variable in asked.columns else {}
        try:
            columns |= columns_of([key.variable], table.codebook.names, given)
        except InputError as error:
            problems += error.problems
    found = tuple(key for key in scenario.keys if key.variable in columns)
    if found:
        try:
            plan = plan_recodes(
                replace(scenario, keys=found),
                environment,
                table.codebook,
                columns,
                numbers=asked.numbers,
                decimal=decimal,
            )
        except InputError as error:
            return columns, [*problems, *error.problems]
        problems += unmapped_problems(plan, table, asked.unmapped)
    return columns, problems


def _type(variable: CodedVariable, decimal: str) -> str:
    numbers = [number_of(value, decimal) for value in variable.values[1 : _TRIED + 1]]
    if not numbers:
        return "empty"
    if any(number is None for number in numbers):
        return "text"
    return (
        "whole number" if all(n is not None and n.denominator == 1 for n in numbers) else "number"
    )


def _role(
    variable: CodedVariable, n_given: int, kind: str, wanted: Collection[str] | None
) -> tuple[str, str]:
    """Return what a column may be, and why."""
    if wanted is not None:
        return ("key variable", "in the scenario") if variable.name in wanted else ("", "")
    bare = folded(re.sub(r"[_.\-]+", " ", variable.name))
    if _WEIGHTS.search(bare) and kind.endswith("number"):
        return "weight", "by its name"
    is_alone = n_given >= _LEAST_RECORDS and variable.n_codes - 1 >= _NEARLY_ALL * n_given
    if is_alone and kind != "number":
        return "identifier", "nearly every record has a value of its own"
    if _IDENTIFIERS.search(bare):
        return "identifier", "by its name"
    return ("key variable", "by its name") if _KEYS.search(bare) else ("", "")
