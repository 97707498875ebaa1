"""Parts of an environment as plain documents, of the shapes that the files of a folder have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from gamekeeper.errors import Problem, Reason
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import Rules, rules_tree
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.forms.groups import ways_given
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.forms import FORM_FILE, words_tree
from gamekeeper.store.models import GROUP_FILE, VARIABLE_FILE
from gamekeeper.store.parsing import check
from gamekeeper.store.variables import checked_file, codes_of, register_of, variable_of
from gamekeeper.wording import quoted

Document = Any
"""Plain values that JSON has."""

RETIRED = "retired"
"""The document of a code that means nothing any more."""

# Made once: thousands of short texts are written at a time.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

LABELS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])


def text_of(document: Document) -> str:
    """Return a document as JSON, short."""
    return _ENCODER.encode(document)


def header_document(environment: Environment) -> Document:
    """Return what describes an environment as a whole."""
    return {
        "name": environment.name,
        "description": environment.description,
        "rules": rules_tree(environment.rules),
    }


def header_from(tree: Document) -> dict[str, Any]:
    """Return what a document says of an environment; those of earlier versions have no rules."""
    if "rules" not in tree:
        return dict(tree)
    return {**tree, "rules": Rules.model_validate(tree["rules"])}


def header_problems(document: Document) -> list[Problem]:
    """Return what no document can hold in what describes an environment."""
    problems: list[Problem] = []
    _require_whole(document, "description of the environment", problems)
    return problems


def form_document(form: Form) -> Document:
    """Return a form as a document."""
    return {
        "name": form.name,
        "metadata": dict(sorted(form.metadata.items())),
        "variables": {name: list(labels) for name, labels in sorted(form.instances.items())},
        **words_tree(form),
    }


def form_problems(name: str, document: Document) -> list[Problem]:
    """Return what no document can hold in that of a form, or in a part of it."""
    problems: list[Problem] = []
    where = f"form {quoted([name])}"
    told = {n: labels for n, labels in document.get("variables", {}).items() if labels is not None}
    questions = document.get("questions", [])
    if isinstance(questions, dict):
        questions = list(questions.values())
    whole = {**document, "name": name, "variables": told, "questions": questions}
    check(whole, where, FORM_FILE, problems)
    _require_whole(document, where, problems)
    return problems


def form_of(tree: Document) -> Form:
    """Return the form of a document."""
    file = FORM_FILE.validate_python(tree)
    instances = {name: tuple(labels) for name, labels in file.variables.items()}
    return Form(file.name, instances, file.metadata, tuple(file.questions), file.universe)


def group_document(group: Group) -> Document:
    """Return a group as a document."""
    ((way, given),) = group.definition.items()
    names = sorted(set(given)) if way == "forms" else given
    return {
        "name": group.name,
        "description": group.description,
        way: names if isinstance(names, str) else list(names),
    }


def group_problems(document: Document) -> list[Problem]:
    """Return what no document can hold in that of a group."""
    problems: list[Problem] = []
    where = f"group {quoted([document['name']])}"
    check(document, where, GROUP_FILE, problems)
    _require_whole(document, where, problems)
    return problems


def group_of(tree: Document) -> Group:
    """Return the group of a document."""
    file = GROUP_FILE.validate_python(tree)
    return Group(file.name, description=file.description, **ways_given(file))


def scenario_document(scenario: Scenario) -> Document:
    """Return a scenario as a document."""
    from gamekeeper.mapping.scenario.document import document_of

    return document_of(scenario).model_dump(mode="json")


def scenario_from(tree: Document) -> Scenario:
    """Return the scenario of a document."""
    # Imported here: the shape of scenarios takes as long as all else, and many stores have none.
    from gamekeeper.mapping.scenario.document import SCENARIO, scenario_of

    return scenario_of(SCENARIO.validate_python(tree))


def variable_problems(variable: Variable, document: Document) -> list[Problem]:
    """Return what no document can hold in a variable, given its definition."""
    problems: list[Problem] = []
    where = f"variable {quoted([variable.name])}"
    checked_file(document, variable, where, problems)
    _require_whole(document, where, problems)
    return problems


def code_documents(variable: Variable, register: CodeRegister) -> dict[str, Document]:
    """Return the documents of the codes of a variable."""
    return {**codes_of(variable, register), **dict.fromkeys(register.retired, RETIRED)}


def coded_variable(tree: Document, codes: Mapping[str, Document]) -> tuple[Variable, CodeRegister]:
    """Return the variable of a definition with its codes.

    Raises
    ------
    ValueError
        If anything is wrong with them; they were right when they were kept.
    """
    problems: list[Problem] = []
    retired = [code for code, blocks in codes.items() if blocks == RETIRED]
    meant = {code: blocks for code, blocks in codes.items() if blocks != RETIRED}
    file = check({**tree, "codes": meant, "retired": retired}, "", VARIABLE_FILE, problems)
    variable = None if file is None else variable_of(file, "", problems)
    if file is None or variable is None:
        raise ValueError
    register = register_of(file, variable, "", problems)
    if problems:
        raise ValueError
    return variable, register


def _require_whole(tree: Document, where: str, problems: list[Problem]) -> None:
    try:
        text_of(tree).encode()
    except UnicodeEncodeError:
        found = "holds half of a character (a lone surrogate)."
        problems.append(Problem(Reason.WRONG_ENCODING, where, found, "Write it whole."))
    except TypeError:
        # What cannot be JSON at all is a fault of its shape, which is told already.
        return
