"""Changes of an environment as documents: worked out, patched into it, and written to the rows.

A form that changes is kept as what differs of it, so that renaming a category on thousands of forms
stays small; a change may have the whole of it as well. All changes of a revision together take the
environment from one state to the next, and back. Within each kind, what goes is taken away before
anything is entered, so that a name may return in another spelling in the same revision.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Column, Connection, Table, bindparam, delete, exists, func, select, update

from gamekeeper.errors import Problem
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import Scenario
from gamekeeper.mapping.forms.form import Question, Universe
from gamekeeper.mapping.variables.codes import ARBITRARY_CODE, CodeRegister, Variable, code_order
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.store.database import engines as tables
from gamekeeper.store.database import loading
from gamekeeper.store.database.engines import batches, digest
from gamekeeper.store.database.words import Contradiction
from gamekeeper.store.reading import group_tree, words_tree

_Part = TypeVar("_Part", Variable, Form, Group, Scenario)
_SAME = object()


class Change(NamedTuple):
    """One part of an environment before and after; None where it was or is not there.

    The kind is environment, variable, code, form, group or scenario. A code has the name of its variable.
    """

    kind: str
    name: str
    before: loading.Document
    after: loading.Document
    code: str = ""


def packed(changes: Iterable[Change]) -> bytes:
    """Return changes as they are kept."""
    return zlib.compress(loading.text_of([list(change) for change in changes]).encode(), level=3)


def unpacked(data: bytes) -> list[Change]:
    """Return the changes that were kept.

    Examples
    --------
    >>> change = Change("form", "Bank", None, {"name": "Bank", "metadata": {}, "variables": {}})
    >>> unpacked(packed([change])) == [change]
    True
    """
    try:
        return [Change(*row) for row in json.loads(zlib.decompress(data))]
    except (RecursionError, TypeError, ValueError, zlib.error):
        raise Contradiction from None


def differences(
    before: Environment,
    known: Mapping[str, CodeRegister],
    after: Environment,
    problems: list[Problem],
) -> list[Change]:
    """Return what takes one environment to another, after adding what no document can hold.

    `known` has the codes before, as they are kept. Harmonizations of variables that changed, or
    that forms now have otherwise, are numbered.
    """
    changes: list[Change] = []
    headers = loading.header_document(before), loading.header_document(after)
    if headers[0] != headers[1]:
        changes.append(Change("environment", "", *headers))
    problems += loading.header_problems(headers[1])
    recoded: dict[str, None] = {}
    for name, old, new in _pairs(before.variables, after.variables):
        if old == new:
            continue
        recoded[name] = None
        change = Change(
            "variable", name, old and definition_tree(old), new and definition_tree(new)
        )
        changes.append(change)
        problems += loading.variable_problems(new, change.after) if new else ()
    for name, old, new in _pairs(before.forms, after.forms):
        change = _form_change(name, old, new)
        if change is None:
            continue
        changes.append(change)
        for document in (change.before, change.after):
            recoded.update(dict.fromkeys((document or {}).get("variables", ())))
        problems += loading.form_problems(name, change.after) if new else ()
    for name, old, new in _pairs(before.groups, after.groups):
        change = Change("group", name, old and group_tree(old), new and group_tree(new))
        if change.before != change.after:
            changes.append(change)
            problems += loading.group_problems(change.after) if new else ()
    for name, old, new in _pairs(before.scenarios, after.scenarios):
        if old != new:
            documents = (
                old and loading.scenario_document(old),
                new and loading.scenario_document(new),
            )
            changes.append(Change("scenario", name, *documents))
    # Codes may have been given on the way that no form uses any more.
    recoded |= {n: None for n in after.variables if after.given_codes(n) is not known.get(n)}
    for name in recoded:
        changes += _code_changes(name, before.variables.get(name), known.get(name), after)
    return changes


def _pairs(
    before: Mapping[str, _Part], after: Mapping[str, _Part]
) -> Iterator[tuple[str, _Part | None, _Part | None]]:
    for name, old in before.items():
        new = after.get(name)
        if new is not old:
            yield name, old, new
    for name, new in after.items():
        if name not in before:
            yield name, None, new


def _form_change(name: str, old: Form | None, new: Form | None) -> Change | None:
    if old is None or new is None:
        return Change(
            "form", name, old and loading.form_document(old), new and loading.form_document(new)
        )
    before: dict[str, loading.Document] = {}
    after: dict[str, loading.Document] = {}
    metadata = [dict(sorted(form.metadata.items())) for form in (old, new)]
    # As texts, for 1, 1.0 and true are equal in Python and different metadata.
    if old.metadata is not new.metadata and loading.text_of(metadata[0]) != loading.text_of(
        metadata[1]
    ):
        before["metadata"], after["metadata"] = metadata
    differing = [
        variable
        for variable in sorted(old.instances.keys() | new.instances.keys())
        if old.instances.get(variable) != new.instances.get(variable)
    ]
    if differing:
        for part, form in ((before, old), (after, new)):
            part["variables"] = {
                variable: list(form.instances[variable]) if variable in form.instances else None
                for variable in differing
            }
    _add_words(old, new, before, after)
    return Change("form", name, before, after) if before else None


def _add_words(
    old: Form, new: Form, before: dict[str, loading.Document], after: dict[str, loading.Document]
) -> None:
    if old.questions is new.questions and old.universe is new.universe:
        return
    trees = words_tree(old), words_tree(new)
    # As texts, for what 1 and true are in metadata.
    if loading.text_of(trees[0].get("universe")) != loading.text_of(trees[1].get("universe")):
        before["universe"], after["universe"] = (tree.get("universe") for tree in trees)
    was, now = (tree.get("questions", []) for tree in trees)
    if [question["name"] for question in was] != [question["name"] for question in now]:
        before["questions"], after["questions"] = was, now
        return
    differing = [
        (one, other)
        for one, other in zip(was, now, strict=True)
        if loading.text_of(one) != loading.text_of(other)
    ]
    if differing:
        before["questions"] = {one["name"]: one for one, _ in differing}
        after["questions"] = {other["name"]: other for _, other in differing}


def _code_changes(
    name: str, old: Variable | None, known: CodeRegister | None, after: Environment
) -> Iterator[Change]:
    new = after.variables.get(name)
    now = None if new is None else after.register(name)
    same = set[str]()
    if old is not None and new is not None and old.graph == new.graph and known and now:
        same = {code for code in known if code in now and known.meaning(code) == now.meaning(code)}
    before, later = _blocks(old, known, same), _blocks(new, now, same)
    for code in sorted(before.keys() | later.keys(), key=code_order):
        if before.get(code) != later.get(code):
            yield Change("code", name, before.get(code), later.get(code), code)


def _blocks(
    variable: Variable | None, register: CodeRegister | None, leave_out: set[str]
) -> dict[str, loading.Document]:
    if variable is None or register is None:
        return {}
    rest = CodeRegister((c, register.meaning(c)) for c in register if c not in leave_out)
    return loading.code_documents(variable, rest) | dict.fromkeys(register.retired, loading.RETIRED)


class PatchedParts:
    """All parts of an environment but its variables, as what differs from where it started."""

    def __init__(self, start: Environment) -> None:
        self._start = start
        self._header: loading.Document = {}
        self._forms: dict[str, Form | None] = {}
        self._groups: dict[str, Group | None] = {}
        self._scenarios: dict[str, Scenario | None] = {}

    def patch(self, kind: str, name: str, document: loading.Document) -> None:
        """Take in what a change has of a part: how it is after it or, to go back, was before it."""
        match kind:
            case "environment":
                self._header = loading.header_from(document)
            case "form":
                now = self._forms.get(name, self._start.forms.get(name))
                self._forms[name] = _patched_form(now, document)
            case "group":
                self._groups[name] = None if document is None else loading.group_of(document)
            case "scenario":
                self._scenarios[name] = (
                    None if document is None else loading.scenario_from(document)
                )
            case _:
                raise Contradiction

    def environment(
        self, variables: Mapping[str, Variable | None], registers: Mapping[str, CodeRegister]
    ) -> Environment:
        """Return the environment then, with the variables that differ and their codes."""
        start = self._start
        return start.changed(
            variables=variables,
            forms=_present(self._forms, start.forms),
            groups=_present(self._groups, start.groups),
            scenarios=_present(self._scenarios, start.scenarios),
            registers=registers,
            **self._header,
        )


def patched(document: loading.Document, part: loading.Document) -> loading.Document:
    """Return a document after what a change has of it, which for a form may be a part.

    Examples
    --------
    >>> form = {"name": "Bank", "metadata": {}, "variables": {"Age": [], "Sex": []}}
    >>> patched(form, {"variables": {"Age": None}})
    {'name': 'Bank', 'metadata': {}, 'variables': {'Sex': []}}
    """
    if document is None or not isinstance(part, dict) or "name" in part:
        return part
    variables = {**document["variables"], **part.get("variables", {})}
    made = {
        "name": document["name"],
        "metadata": part.get("metadata", document["metadata"]),
        "variables": {name: labels for name, labels in variables.items() if labels is not None},
    }
    if universe := part.get("universe", document.get("universe")):
        made["universe"] = universe
    questions = part.get("questions", {})
    if isinstance(questions, dict):
        known = document.get("questions", [])
        questions = [questions.get(question["name"], question) for question in known]
    if questions:
        made["questions"] = questions
    return made


def _patched_form(form: Form | None, document: loading.Document) -> Form | None:
    """Return a form after what a change has of it, the whole or a part."""
    if document is None:
        return None
    if form is None or "name" in document:
        return loading.form_of(document)
    instances = dict(form.instances)
    for name, labels in document.get("variables", {}).items():
        if labels is None:
            del instances[name]
        else:
            instances[name] = tuple(labels)
    universe = document.get("universe", _SAME)
    return Form(
        form.name,
        instances,
        document.get("metadata", form.metadata),
        _patched_questions(form.questions, document.get("questions", {})),
        form.universe if universe is _SAME else universe and Universe.model_validate(universe),
    )


def _patched_questions(
    questions: tuple[Question, ...], part: loading.Document
) -> tuple[Question, ...]:
    if isinstance(part, list):
        return tuple(Question.model_validate(tree) for tree in part)
    changed = {name: Question.model_validate(tree) for name, tree in part.items()}
    return tuple(changed.get(question.name, question) for question in questions)


def _present(
    changed: Mapping[str, _Part | None], there: Mapping[str, _Part]
) -> dict[str, _Part | None]:
    """Return changes of parts without the removal of what is not there."""
    return {name: part for name, part in changed.items() if part is not None or name in there}


Rows = list[dict[str, Any]]


def write(
    connection: Connection,
    changes: Sequence[Change],
    revision: int,
    forms: Mapping[str, Form] | None = None,
) -> None:
    """Write changes to the rows, as made by a revision.

    `forms` are those after it: the row of a form has all of its own words, a change perhaps a part.
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
        values = {"name": change.name, "definition": loading.text_of(change.after)}
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
        key: None if document in (None, loading.RETIRED) else loading.text_of(document)
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
            values |= {
                "metadata": loading.text_of(document["metadata"]),
                "words": _words_text(document),
            }
            entered.append({"id": number, **values})
        elif "metadata" in document:
            updated.append({"row": number, "metadata": loading.text_of(document["metadata"])})
        is_worded = document is not None and ("questions" in document or "universe" in document)
        if change.before is not None and is_worded:
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


def _header_row(document: loading.Document) -> dict[str, Any]:
    rules = document.get("rules")
    return {**document, "rules": loading.text_of(rules) if rules else None}


def _words_text(document: loading.Document) -> str | None:
    """Return what a form says in its own words, as it is kept."""
    words = {name: document[name] for name in ("universe", "questions") if document.get(name)}
    return loading.text_of(words) if words else None


def _offered(
    document: loading.Document, texts: dict[tuple[str, ...], str]
) -> list[tuple[str, str]]:
    """Return the labels of every variable in a document of a form, as texts.

    `texts` has those met so far: the same labels come thousands of times.
    """
    offered: list[tuple[str, str]] = []
    for name, labels in (document or {}).get("variables", {}).items():
        if labels is None:
            continue
        key = tuple(labels)
        if key not in texts:
            texts[key] = loading.text_of(labels)
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
    changes = list(changes)
    rows = _rows_of(connection, table, [change.name for change in changes])
    removed = [{"row": rows[change.name]} for change in changes if change.after is None]
    if removed:
        connection.execute(delete(table).where(table.c.id == bindparam("row")), removed)
    updated: Rows = []
    entered: Rows = []
    following = _next(connection, table.c.id) if changes else 0
    for change in changes:
        document = {column: loading.text_of(change.after)}
        if change.before is None:
            values = {"name": change.name, "folded": digest(change.name), **document}
            entered.append({"id": following + len(entered), **values})
        elif change.after is not None:
            updated.append({"row": rows[change.name], **document})
    _update(connection, table, updated)
    _insert(connection, table, entered)


def _rows_of(connection: Connection, table: Table, names: Collection[str]) -> dict[str, int]:
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
