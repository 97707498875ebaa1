"""Some variables of a store, by name: their definitions, their codes, and how old codes are."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents import tables
from gamekeeper.store.database.contents.loading import coded_variables


def load_variables(
    connection: Connection, names: Collection[str]
) -> list[tuple[Variable, CodeRegister]]:
    """Return the variables of some names that are there, with their codes."""
    variable, code = tables.variable.c, tables.code.c
    rows = connection.execute(
        select(variable.id, variable.name, variable.definition)
        .where(variable.definition.is_not(None))
        .where(variable.folded.in_([tables.digest(name) for name in names]))
        .order_by(variable.name)
    ).all()
    codes = connection.execute(
        select(code.variable_id, code.code, code.blocks)
        .where(code.variable_id.in_([row.id for row in rows]))
        .order_by(code.code)
    )
    return coded_variables(map(tuple, rows), map(tuple, codes))


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
