"""Changes written to the rows of a store.

Within each kind, what goes is taken away before anything is entered, so that a name may return
in another spelling in the same revision.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, bindparam, delete, exists, func, select, update

from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE
from gamekeeper.store.database.contents import tables
from gamekeeper.store.database.contents.changes import Change
from gamekeeper.store.database.contents.documents import RETIRED, Document, text_of
from gamekeeper.store.database.contents.tables import batches, digest
from gamekeeper.store.forms import words_tree

Rows = list[dict[str, Any]]


def write(
    connection: Connection,
    changes: Sequence[Change],
    revision: int,
    forms: Mapping[str, Form] | None = None,
) -> None:
    """Write changes to the rows, as made by a revision.

    `forms` are those after it: a change may have a part of what a form says in its own words, and
    the row has all of it.
    """
    kinds: dict[str, list[Change]] = {}
    for change in changes:
        kinds.setdefault(change.kind, []).append(change)
    for change in kinds.get("environment", ()):
        connection.execute(update(tables.environment).values(**_header_row(change.after)))
    variables = _write_variables(connection, kinds.get("variable", ()), kinds.get("code", ()))
    _write_forms(connection, kinds.get("form", ()), variables, forms or {})
    _write_codes(connection, kinds.get("code", ()), variables, revision)
    _write_documents(connection, tables.group, "definition", kinds.get("group", ()))
    _write_documents(connection, tables.scenario, "body", kinds.get("scenario", ()))


def _write_variables(
    connection: Connection, changes: Iterable[Change], codes: Iterable[Change]
) -> dict[str, int]:
    """Write definitions, and return the rows of the variables by name as far as they are known."""
    changes = list(changes)
    names = dict.fromkeys([change.name for change in (*changes, *codes)])
    rows = _rows_of(connection, tables.variable, names)
    gone: Rows = [
        {"row": rows[change.name], "definition": None} for change in changes if change.after is None
    ]
    _update(connection, tables.variable, gone)
    entered: Rows = []
    defined: Rows = []
    following = _next(connection, tables.variable.c.id)
    for change in changes:
        if change.after is None:
            continue
        values = {"name": change.name, "definition": text_of(change.after)}
        if change.name in rows:
            defined.append({"row": rows[change.name], **values})
        else:
            rows[change.name] = following + len(entered)
            entered.append({"id": rows[change.name], "folded": digest(change.name), **values})
    _update(connection, tables.variable, defined)
    _insert(connection, tables.variable, entered)
    return rows


def _write_codes(
    connection: Connection, changes: Iterable[Change], variables: Mapping[str, int], revision: int
) -> None:
    # A code that is gone with its variable stays as a row without meaning, never to be given again.
    ordered = sorted(changes, key=lambda change: change.after is not None)
    meant = {(variables[c.name], c.code): c.after for c in ordered}
    code = tables.code.c
    there = {
        (row.variable_id, row.code)
        for some in batches({variable for variable, _ in meant})
        for row in connection.execute(
            select(code.variable_id, code.code).where(code.variable_id.in_(some))
        )
    }
    texts = {
        key: None if document in (None, RETIRED) else text_of(document)
        for key, document in meant.items()
    }
    known: Rows = [{"v": v, "c": c, "blocks": texts[v, c]} for v, c in meant if (v, c) in there]
    new: Rows = [
        {"variable_id": v, "code": c, "blocks": texts[v, c], "since": revision}
        for v, c in meant
        if (v, c) not in there
    ]
    # Arbitrary precision needs no memory: its code can mean nothing else.
    idle = [row for row in known if row["c"] == ARBITRARY_CODE and row["blocks"] is None]
    known = [row for row in known if row not in idle]
    if idle:
        numbers = [row["v"] for row in idle]
        is_it = code.variable_id.in_(numbers) & (code.code == ARBITRARY_CODE)
        connection.execute(delete(tables.code).where(is_it))
    if known:
        is_it = (code.variable_id == bindparam("v")) & (code.code == bindparam("c"))
        connection.execute(update(tables.code).where(is_it), known)
    _insert(connection, tables.code, new)


class _Offers(NamedTuple):
    """A change of a form with the selections before and after, as variables and texts."""

    change: Change
    before: list[tuple[str, str]]
    after: list[tuple[str, str]]


def _write_forms(
    connection: Connection,
    changes: Iterable[Change],
    variables: dict[str, int],
    forms: Mapping[str, Form],
) -> None:
    texts: dict[tuple[str, ...], str] = {}
    # Whatever goes comes first: a form may return under a name that differs in case alone.
    offers = [
        _Offers(change, _offered(change.before, texts), _offered(change.after, texts))
        for change in sorted(changes, key=lambda change: change.after is not None)
    ]
    if not offers:
        return
    rows = _rows_of(connection, tables.form, [change.name for change, *_ in offers])
    asked = {name for _, *both in offers for told in both for name, _ in told}
    variables |= _rows_of(connection, tables.variable, asked - variables.keys())
    selections = _selections(connection, offers, variables)
    removed: Rows = []
    dropped: Rows = []
    taken: Rows = []
    entered: Rows = []
    updated: Rows = []
    reworded: Rows = []
    following = _next(connection, tables.form.c.id)
    for change, before, after in offers:
        number, document = rows.get(change.name, 0), change.after
        if document is None:
            removed.append({"row": number})
        elif change.before is None:
            number = following + len(entered)
            values = {"name": change.name, "folded": digest(change.name)}
            values |= {"metadata": text_of(document["metadata"]), "words": _words_text(document)}
            entered.append({"id": number, **values})
        elif "metadata" in document:
            updated.append({"row": number, "metadata": text_of(document["metadata"])})
        if change.before is not None and _has_words(document):
            reworded.append({"row": number, "words": _words_text(words_tree(forms[change.name]))})
        dropped += [{"f": number, "s": selections[variables[n], text]} for n, text in before]
        taken += [
            {"form_id": number, "selection_id": selections[variables[n], text]} for n, text in after
        ]
    instance, form = tables.instance.c, tables.form.c
    if dropped:
        is_it = (instance.form_id == bindparam("f")) & (instance.selection_id == bindparam("s"))
        connection.execute(delete(tables.instance).where(is_it), dropped)
    if removed:
        connection.execute(delete(tables.form).where(form.id == bindparam("row")), removed)
    _update(connection, tables.form, updated)
    _update(connection, tables.form, reworded)
    _insert(connection, tables.form, entered)
    _insert(connection, tables.instance, taken)
    if dropped:
        _forget_selections(connection, {variables[n] for o in offers for n, _ in o.before})


def _header_row(document: Document) -> dict[str, Any]:
    rules = document.get("rules")
    return {**document, "rules": text_of(rules) if rules else None}


def _has_words(document: Document) -> bool:
    return document is not None and ("questions" in document or "universe" in document)


def _words_text(document: Document) -> str | None:
    """Return what a form says in its own words, as it is kept."""
    words = {name: document[name] for name in ("universe", "questions") if document.get(name)}
    return text_of(words) if words else None


def _offered(document: Document, texts: dict[tuple[str, ...], str]) -> list[tuple[str, str]]:
    """Return the labels of every variable in a document of a form, as texts.

    The same labels come thousands of times; `texts` has those met so far.
    """
    offered: list[tuple[str, str]] = []
    for name, labels in (document or {}).get("variables", {}).items():
        if labels is None:
            continue
        key = tuple(labels)
        if key not in texts:
            texts[key] = text_of(labels)
        offered.append((name, texts[key]))
    return offered


def _selections(
    connection: Connection, offers: Iterable[_Offers], variables: Mapping[str, int]
) -> dict[tuple[int, str], int]:
    """Return the rows of all selections that changes name, after entering new ones."""
    selection = tables.selection.c
    named = {
        (variables[name], text): None for _, *both in offers for told in both for name, text in told
    }
    known = {
        (row.variable_id, row.labels): row.id
        for some in batches(dict.fromkeys(variable for variable, _ in named))
        for row in connection.execute(
            select(tables.selection).where(selection.variable_id.in_(some))
        )
    }
    following = _next(connection, selection.id)
    new = [key for key in named if key not in known]
    known |= {key: following + number for number, key in enumerate(new)}
    _insert(
        connection,
        tables.selection,
        [{"id": known[v, text], "variable_id": v, "labels": text} for v, text in new],
    )
    return known


def _forget_selections(connection: Connection, variables: Collection[int]) -> None:
    selection, instance = tables.selection.c, tables.instance.c
    is_used = exists().where(instance.selection_id == selection.id)
    for some in batches(variables):
        connection.execute(
            delete(tables.selection).where(selection.variable_id.in_(some), ~is_used)
        )


def _write_documents(
    connection: Connection, table: Table, column: str, changes: Iterable[Change]
) -> None:
    """Write parts that are kept as one document each."""
    changes = list(changes)
    rows = _rows_of(connection, table, [change.name for change in changes])
    removed = [{"row": rows[change.name]} for change in changes if change.after is None]
    if removed:
        connection.execute(delete(table).where(table.c.id == bindparam("row")), removed)
    updated: Rows = []
    entered: Rows = []
    following = _next(connection, table.c.id) if changes else 0
    for change in changes:
        document = {column: text_of(change.after)}
        if change.before is None:
            values = {"name": change.name, "folded": digest(change.name), **document}
            entered.append({"id": following + len(entered), **values})
        elif change.after is not None:
            updated.append({"row": rows[change.name], **document})
    _update(connection, table, updated)
    _insert(connection, table, entered)


def _rows_of(connection: Connection, table: Table, names: Collection[str]) -> dict[str, int]:
    """Return the row of every name that has one."""
    found: dict[str, int] = {}
    for some in batches(names):
        rows = connection.execute(
            select(table.c.folded, table.c.id).where(
                table.c.folded.in_([digest(name) for name in some])
            )
        )
        numbers = {row.folded: row.id for row in rows}
        found |= {name: numbers[key] for name in some if (key := digest(name)) in numbers}
    return found


def _next(connection: Connection, column: Column[int]) -> int:
    """Return the first number that no row has; there is only one writer at a time."""
    return (connection.execute(select(func.max(column))).scalar() or 0) + 1


def _insert(connection: Connection, table: Table, rows: Rows) -> None:
    if rows:
        connection.execute(table.insert(), rows)


def _update(connection: Connection, table: Table, rows: Rows) -> None:
    if rows:
        connection.execute(update(table).where(table.c.id == bindparam("row")), rows)
