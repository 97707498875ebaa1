"""What differs between two environments, as documents before and after.

A form that changes is kept as what differs of it, so that renaming a category on thousands of
forms stays small. All changes of a revision together take the environment from one state to the
next, and back.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from gamekeeper.errors import Problem
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.variables.codes import CodeRegister, code_order
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents.documents import (
    RETIRED,
    Document,
    code_documents,
    form_document,
    form_problems,
    group_document,
    group_problems,
    header_document,
    header_problems,
    scenario_document,
    text_of,
    variable_problems,
)
from gamekeeper.store.database.refusals import Contradiction
from gamekeeper.store.forms import words_tree

_Part = TypeVar("_Part", Variable, Form, Group, Scenario)


class Change(NamedTuple):
    """One part of an environment before and after; None where it was or is not there.

    The kind is environment, variable, code, form, group or scenario. A code has the name of its variable.
    """

    kind: str
    name: str
    before: Document
    after: Document
    code: str = ""


def packed(changes: Iterable[Change]) -> bytes:
    """Return changes as they are kept."""
    return zlib.compress(text_of([list(change) for change in changes]).encode(), level=3)


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
    headers = header_document(before), header_document(after)
    if headers[0] != headers[1]:
        changes.append(Change("environment", "", *headers))
    problems += header_problems(headers[1])
    recoded: dict[str, None] = {}
    for name, old, new in _pairs(before.variables, after.variables):
        if old == new:
            continue
        recoded[name] = None
        change = Change(
            "variable", name, old and definition_tree(old), new and definition_tree(new)
        )
        changes.append(change)
        problems += variable_problems(new, change.after) if new else ()
    for name, old, new in _pairs(before.forms, after.forms):
        change = _form_change(name, old, new)
        if change is None:
            continue
        changes.append(change)
        for document in (change.before, change.after):
            recoded.update(dict.fromkeys((document or {}).get("variables", ())))
        problems += form_problems(name, change.after) if new else ()
    for name, old, new in _pairs(before.groups, after.groups):
        change = Change("group", name, old and group_document(old), new and group_document(new))
        if change.before != change.after:
            changes.append(change)
            problems += group_problems(change.after) if new else ()
    for name, old, new in _pairs(before.scenarios, after.scenarios):
        if old != new:
            documents = old and scenario_document(old), new and scenario_document(new)
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
        return Change("form", name, old and form_document(old), new and form_document(new))
    before: dict[str, Document] = {}
    after: dict[str, Document] = {}
    metadata = [dict(sorted(form.metadata.items())) for form in (old, new)]
    # As texts, for 1, 1.0 and true are equal in Python and different metadata.
    if old.metadata is not new.metadata and text_of(metadata[0]) != text_of(metadata[1]):
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
    old: Form, new: Form, before: dict[str, Document], after: dict[str, Document]
) -> None:
    """Add what differs of what a form says in its own words."""
    if old.questions is new.questions and old.universe is new.universe:
        return
    trees = words_tree(old), words_tree(new)
    # As texts, for what 1 and true are in metadata.
    if text_of(trees[0].get("universe")) != text_of(trees[1].get("universe")):
        before["universe"], after["universe"] = (tree.get("universe") for tree in trees)
    was, now = (tree.get("questions", []) for tree in trees)
    if [question["name"] for question in was] != [question["name"] for question in now]:
        before["questions"], after["questions"] = was, now
        return
    differing = [
        (one, other) for one, other in zip(was, now, strict=True) if text_of(one) != text_of(other)
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
) -> dict[str, Document]:
    if variable is None or register is None:
        return {}
    rest = CodeRegister((c, register.meaning(c)) for c in register if c not in leave_out)
    return code_documents(variable, rest) | dict.fromkeys(register.retired, RETIRED)
