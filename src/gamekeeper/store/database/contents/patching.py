"""Parts of an environment after what changes have of them, forward or back.

A change may have the whole of a form or what differs of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.forms.questions import Question, Universe
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents.documents import (
    Document,
    form_of,
    group_of,
    header_from,
    scenario_from,
)
from gamekeeper.store.database.refusals import Contradiction

_Part = TypeVar("_Part", Form, Group, Scenario)

_SAME = object()


class PatchedParts:
    """All parts of an environment but its variables, as what differs from where it started."""

    def __init__(self, start: Environment) -> None:
        self._start = start
        self._header: Document = {}
        self._forms: dict[str, Form | None] = {}
        self._groups: dict[str, Group | None] = {}
        self._scenarios: dict[str, Scenario | None] = {}

    def patch(self, kind: str, name: str, document: Document) -> None:
        """Take in what a change has of a part: how it is after it or, to go back, was before it."""
        match kind:
            case "environment":
                self._header = header_from(document)
            case "form":
                now = self._forms.get(name, self._start.forms.get(name))
                self._forms[name] = _patched_form(now, document)
            case "group":
                self._groups[name] = None if document is None else group_of(document)
            case "scenario":
                self._scenarios[name] = None if document is None else scenario_from(document)
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


def patched(document: Document, part: Document) -> Document:
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


def _patched_form(form: Form | None, document: Document) -> Form | None:
    """Return a form after what a change has of it, the whole or a part."""
    if document is None:
        return None
    if form is None or "name" in document:
        return form_of(document)
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


def _patched_questions(questions: tuple[Question, ...], part: Document) -> tuple[Question, ...]:
    """Return questions after what a change has of them: all of them, or some by their names."""
    if isinstance(part, list):
        return tuple(Question.model_validate(tree) for tree in part)
    changed = {name: Question.model_validate(tree) for name, tree in part.items()}
    return tuple(changed.get(question.name, question) for question in questions)


def _present(
    changed: Mapping[str, _Part | None], there: Mapping[str, _Part]
) -> dict[str, _Part | None]:
    """Return changes of parts without the removal of what is not there."""
    return {name: part for name, part in changed.items() if part is not None or name in there}
