"""The text of every file of an environment, in the one way in which it is written."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from gamekeeper.errors import Problem, Reason
from gamekeeper.files.gate import FORMAT
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import NO_RULES, rules_tree
from gamekeeper.mapping.scenario.document import document_of
from gamekeeper.store.forms import FORM_FILE, words_tree
from gamekeeper.store.layout import HEADER, HEADER_FILE
from gamekeeper.store.models import GROUP_FILE, VERSION
from gamekeeper.store.parsing import check
from gamekeeper.store.variables import checked_file, tree_of
from gamekeeper.wording import quoted


def texts_of(environment: Environment, problems: list[Problem]) -> dict[str, dict[str, bytes]]:
    """Return the texts of all parts by kind and name, after adding what no file can hold."""
    return {
        "variables": {
            name: _variable_text(environment, name, problems) for name in environment.variables
        },
        "forms": {name: _form_text(form, problems) for name, form in environment.forms.items()},
        "groups": {
            name: _group_text(group, problems) for name, group in environment.groups.items()
        },
        "scenarios": {
            name: _text(document_of(scenario), f"scenario {quoted([name])}", problems)
            for name, scenario in environment.scenarios.items()
        },
    }


def header_text(environment: Environment, problems: list[Problem]) -> bytes:
    """Return the text of environment.json."""
    tree: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": environment.name,
        **_described(environment.description),
    }
    if environment.rules != NO_RULES:
        tree["rules"] = rules_tree(environment.rules)
    return _text(check(tree, HEADER, HEADER_FILE, problems), HEADER, problems)


def _variable_text(environment: Environment, name: str, problems: list[Problem]) -> bytes:
    where = f"variable {quoted([name])}"
    variable = environment.variable(name)
    tree = tree_of(variable, environment.register(name))
    return _text(checked_file(tree, variable, where, problems), where, problems)


def _form_text(form: Form, problems: list[Problem]) -> bytes:
    where = f"form {quoted([form.name])}"
    tree = {
        "name": form.name,
        "metadata": dict(sorted(form.metadata.items())),
        **words_tree(form),
        "variables": {name: list(labels) for name, labels in sorted(form.by_hand.items())},
    }
    return _text(check(tree, where, FORM_FILE, problems), where, problems)


def _group_text(group: Group, problems: list[Problem]) -> bytes:
    where = f"group {quoted([group.name])}"
    ((way, given),) = group.definition.items()
    if way == "forms":
        given = sorted(set(group.forms))
    tree = {
        "name": group.name,
        **_described(group.description),
        way: given if isinstance(given, str) else list(given),
    }
    return _text(check(tree, where, GROUP_FILE, problems), where, problems)


def _described(description: str) -> dict[str, str]:
    return {"description": description} if description else {}


def _text(file: BaseModel | None, where: str, problems: list[Problem]) -> bytes:
    if file is None:
        return b""
    try:
        text = file.model_dump_json(indent=1, by_alias=True, exclude_unset=True)
    except PydanticSerializationError:
        found = "holds half of a character (a lone surrogate)."
        problems.append(Problem(Reason.WRONG_ENCODING, where, found, "Write it whole."))
        return b""
    return f"{text}\n".encode()
