"""From the rows of a store to an environment, quickly.

Rows are fetched in bulk: one row for all selections of a form together, for a row of each of some
hundred thousand instances would take several times as long as all else. Questions are plain SQL
(`seals` has them), so that whoever only looks does not wait for SQLAlchemy to be imported.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter

from gamekeeper.errors import InputError
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import NO_RULES, Rules
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.forms.form import Metadata
from gamekeeper.mapping.forms.questions import Question, Universe
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.database.contents.documents import (
    LABELS,
    RETIRED,
    Document,
    coded_variable,
    group_of,
    scenario_from,
)
from gamekeeper.store.database.contents.seals import INSTANCES, sealed_answers
from gamekeeper.store.database.refusals import Contradiction, ServerRefusal
from gamekeeper.store.database.words import Ask

_Part = TypeVar("_Part", Group, Scenario)

_METADATA: TypeAdapter[dict[str, Metadata]] = TypeAdapter(dict[str, Metadata])

_POSITION = "SELECT revision, codes_saved FROM environment"


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


def position(ask: Ask) -> tuple[int, int]:
    """Return the newest revision and how often codes were saved."""
    rows = ask(_POSITION)
    if len(rows) != 1:
        raise Contradiction
    revision, codes_saved = rows[0]
    return revision, codes_saved


def load(ask: Ask) -> State:
    """Return the state of a store.

    Whatever goes wrong with what was read is a contradiction: it was right when it was kept.
    """
    try:
        return _load(ask)
    except (sqlite3.Error, OSError, MemoryError, Contradiction, ServerRefusal):
        raise
    except Exception:  # noqa: BLE001 - what damaged rows lead to cannot be foreseen
        raise Contradiction from None


def _load(ask: Ask) -> State:
    answers = sealed_answers(ask)
    ((revision, codes_saved, name, description, rules),) = answers["environment"]
    coded = coded_variables(
        ((number, name, text) for number, name, text, _ in answers["variable"] if text is not None),
        ((number, code, blocks) for number, code, blocks, _ in answers["code"]),
    )
    registers = {variable.name: register for variable, register in coded}
    environment = Environment(
        (variable for variable, _ in coded),
        _forms(answers),
        _made(answers["form_group"], group_of),
        scenarios=_made(answers["scenario"], scenario_from),
        name=name,
        description=description,
        registers=registers,
        rules=NO_RULES if rules is None else Rules.model_validate_json(rules),
    )
    return State(revision, codes_saved, environment, registers)


def coded_variables(
    rows: Iterable[tuple[int, str, str]], code_rows: Iterable[tuple[int, str, str | None]]
) -> list[tuple[Variable, CodeRegister]]:
    """Return variables with their codes, given the rows of both."""
    codes: dict[int, dict[str, Document]] = {}
    coded: list[tuple[Variable, CodeRegister]] = []
    try:
        for variable_id, text, blocks in code_rows:
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


def _forms(answers: Mapping[str, Sequence[tuple[Any, ...]]]) -> Iterable[Form]:
    names: dict[int, str] = {number: name for number, name, *_ in answers["variable"]}
    labels: dict[str, tuple[str, ...]] = {}
    offered: dict[str, tuple[str, tuple[str, ...]]] = {}
    for number, variable, text in answers["selection"]:
        if text not in labels:
            labels[text] = LABELS.validate_json(text, strict=True)
        offered[str(number)] = (names[variable], labels[text])
    of = offered.__getitem__
    instances: dict[int, dict[str, tuple[str, ...]]] = {}
    for form_id, text in answers[INSTANCES]:
        picked = text.split(",")
        instances[form_id] = dict(map(of, picked))
        if len(instances[form_id]) < len(picked):
            raise Contradiction
    forms: list[Form] = []
    for form_id, name, metadata, words, _ in answers["form"]:
        questions, universe = _NO_WORDS if words is None else _words(words)
        known = _METADATA.validate_json(metadata, strict=True)
        forms.append(Form(name, instances.pop(form_id, {}), known, questions, universe))
    if instances:
        raise Contradiction
    return forms


_Words = tuple[tuple[Question, ...], Universe | None]
_NO_WORDS: _Words = ((), None)


def _words(text: str) -> _Words:
    """Return what a form says in its own words: its questions and its universe."""
    tree = json.loads(text)
    questions = tuple(Question.model_validate(each) for each in tree.get("questions", ()))
    universe = tree.get("universe")
    return questions, universe and Universe.model_validate(universe)


def _made(rows: Sequence[tuple[Any, ...]], make: Callable[[Document], _Part]) -> list[_Part]:
    """Return the parts that are kept as one document each."""
    parts = [make(json.loads(text)) for _, _, text, _ in rows]
    if [part.name for part in parts] != [name for _, name, *_ in rows]:
        raise Contradiction
    return parts
