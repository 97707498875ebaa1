"""From the rows of a store to an environment, quickly.

Rows are fetched in bulk: one row for all selections of a form together, for a row of each of some
hundred thousand instances would take several times as long as all else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Column, Connection, String, Table, cast, func, select

from gamekeeper.errors import InputError
from gamekeeper.mapping.environment.codes import CodeRegister
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.form import Metadata
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.environment.variable import Variable
from gamekeeper.store.database import tables
from gamekeeper.store.database.documents import (
    LABELS,
    RETIRED,
    Document,
    coded_variable,
    group_of,
    scenario_from,
)
from gamekeeper.store.database.refusals import Contradiction

__all__ = ["State", "code_ages", "load", "load_variables", "position"]

_Part = TypeVar("_Part", Group, Scenario)

_METADATA: TypeAdapter[dict[str, Metadata]] = TypeAdapter(dict[str, Metadata])


@dataclass(frozen=True)
class State:
    """What a store holds at one moment.

    Attributes
    ----------
    revision
        The number of the newest revision.
    codes_saved
        How often codes were saved apart from revisions.
    registers
        The codes as they are kept; the environment may have given more since.
    """

    revision: int
    codes_saved: int
    environment: Environment
    registers: dict[str, CodeRegister]


def position(connection: Connection) -> tuple[int, int]:
    """Return the newest revision and how often codes were saved."""
    columns = tables.environment.c
    row = connection.execute(select(columns.revision, columns.codes_saved)).one_or_none()
    if row is None:
        raise Contradiction
    return row.revision, row.codes_saved


def load(connection: Connection) -> State:
    """Return the state of a store."""
    revision, codes_saved = position(connection)
    columns = tables.environment.c
    name, description = connection.execute(select(columns.name, columns.description)).one()
    coded = load_variables(connection)
    registers = {variable.name: register for variable, register in coded}
    try:
        environment = Environment(
            (variable for variable, _ in coded),
            _forms(connection),
            _made(connection, tables.group, tables.group.c.definition, group_of),
            scenarios=_made(connection, tables.scenario, tables.scenario.c.body, scenario_from),
            name=name,
            description=description,
            registers=registers,
        )
    except (InputError, ValidationError, TypeError, ValueError):
        raise Contradiction from None
    return State(revision, codes_saved, environment, registers)


def load_variables(
    connection: Connection, names: Collection[str] | None = None
) -> list[tuple[Variable, CodeRegister]]:
    """Return variables with their codes: all of them, or those of some names that are there."""
    if names is not None and not names:
        return []
    variable, code = tables.variable.c, tables.code.c
    wanted = select(variable.id, variable.name, variable.definition).where(
        variable.definition.is_not(None)
    )
    if names is not None:
        wanted = wanted.where(variable.folded.in_([tables.digest(name) for name in names]))
    rows = connection.execute(wanted.order_by(variable.name)).all()
    given = select(code.variable_id, code.code, code.blocks)
    if names is not None:
        given = given.where(code.variable_id.in_([row.id for row in rows]))
    codes: dict[int, dict[str, Document]] = {}
    coded: list[tuple[Variable, CodeRegister]] = []
    try:
        for variable_id, text, blocks in connection.execute(given.order_by(code.code)):
            document = RETIRED if blocks is None else json.loads(blocks)
            codes.setdefault(variable_id, {})[text] = document
        for variable_id, name, definition in rows:
            made = coded_variable(json.loads(definition), codes.get(variable_id, {}))
            if made[0].name != name:
                raise Contradiction
            coded.append(made)
    except (InputError, TypeError, ValueError, RecursionError):
        raise Contradiction from None
    return coded


def code_ages(connection: Connection, names: Collection[str]) -> dict[str, dict[str, int]]:
    """Return for some variables, removed ones among them, in which revision a code was given."""
    variable, code = tables.variable.c, tables.code.c
    keys = {name: tables.digest(name) for name in names}
    ages: dict[str, dict[str, int]] = {key: {} for key in keys.values()}
    for some in tables.batches(ages):
        rows = connection.execute(
            select(variable.folded, code.code, code.since)
            .join_from(tables.code, tables.variable)
            .where(variable.folded.in_(some))
        )
        for folded, text, since in rows:
            ages[folded][text] = since
    # Names that differ in case alone are those of one row.
    return {name: ages[key] for name, key in keys.items()}


def _forms(connection: Connection) -> Iterable[Form]:
    selection, variable, instance = tables.selection.c, tables.variable.c, tables.instance.c
    rows = connection.execute(
        select(cast(selection.id, String), variable.name, selection.labels).join_from(
            tables.selection, tables.variable
        )
    )
    labels: dict[str, tuple[str, ...]] = {}
    offered: dict[str, tuple[str, tuple[str, ...]]] = {}
    for number, name, text in rows.all():
        if text not in labels:
            labels[text] = LABELS.validate_json(text, strict=True)
        offered[number] = (name, labels[text])
    of = offered.__getitem__
    numbers = func.aggregate_strings(cast(instance.selection_id, String), ",")
    rows = connection.execute(select(instance.form_id, numbers).group_by(instance.form_id))
    instances: dict[int, dict[str, tuple[str, ...]]] = {}
    for form_id, text in rows.all():
        picked = text.split(",")
        instances[form_id] = dict(map(of, picked))
        if len(instances[form_id]) < len(picked):
            raise Contradiction
    form = tables.form.c
    forms = [
        Form(name, instances.pop(form_id, {}), _METADATA.validate_json(metadata, strict=True))
        for form_id, name, metadata in connection.execute(
            select(form.id, form.name, form.metadata).order_by(form.name)
        ).all()
    ]
    if instances:
        raise Contradiction
    return forms


def _made(
    connection: Connection,
    table: Table,
    column: Column[str],
    make: Callable[[Document], _Part],
) -> list[_Part]:
    """Return the parts that are kept as one document each."""
    rows = connection.execute(select(table.c.name, column).order_by(table.c.name)).all()
    parts = [make(json.loads(text)) for _, text in rows]
    if [part.name for part in parts] != [name for name, _ in rows]:
        raise Contradiction
    return parts
