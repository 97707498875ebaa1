"""From the rows of a store to an environment, quickly, and parts of it as plain documents.

Documents have the shapes of the files of a folder. Rows are fetched in bulk: one row for all
selections of a form together, for a row of each of some hundred thousand instances would take
several times as long as all else. Questions are plain SQL (`QUESTIONS`), so that whoever only looks
does not wait for SQLAlchemy to be imported.

A database notices that a page cannot be read, not that a letter on it has changed. So whoever
writes leaves the digest of all rows of a part, and whoever loads compares it with what was read.
The order of rows and of numbers in a list is that of the questions, whatever the database prefers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import TypeAdapter

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import NO_RULES, Rules, Scenario, rules_tree
from gamekeeper.mapping.forms.form import Metadata, Question, Universe
from gamekeeper.mapping.forms.groups import ways_given
from gamekeeper.mapping.variables.codes import CodeRegister, Variable
from gamekeeper.store import reading
from gamekeeper.store.database.file import access_of, place_of
from gamekeeper.store.database.words import (
    VERSIONS,
    Ask,
    Contradiction,
    ServerRefusal,
    attempt,
    spoken,
    version_of,
)
from gamekeeper.store.file_shapes import GROUP_FILE, VARIABLE_FILE, check
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    from sqlalchemy import Connection


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
    """Return a form as a document, with the labels that its questions come to."""
    return reading.form_tree(form, form.instances)


def form_problems(name: str, document: Document) -> list[Problem]:
    """Return what no document can hold in that of a form, or in a part of it."""
    problems: list[Problem] = []
    where = f"form {quoted([name])}"
    told = {n: labels for n, labels in document.get("variables", {}).items() if labels is not None}
    questions = document.get("questions", [])
    if isinstance(questions, dict):
        questions = list(questions.values())
    whole = {**document, "name": name, "variables": told, "questions": questions}
    check(whole, where, reading.FORM_FILE, problems)
    _require_whole(document, where, problems)
    return problems


def form_of(tree: Document) -> Form:
    """Return the form of a document."""
    file = reading.FORM_FILE.validate_python(tree)
    instances = {name: tuple(labels) for name, labels in file.variables.items()}
    return Form(file.name, instances, file.metadata, tuple(file.questions), file.universe)


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
    reading.checked_file(document, variable, where, problems)
    _require_whole(document, where, problems)
    return problems


def code_documents(variable: Variable, register: CodeRegister) -> dict[str, Document]:
    """Return the documents of the codes of a variable."""
    return {**reading.codes_of(variable, register), **dict.fromkeys(register.retired, RETIRED)}


def coded_variable(tree: Document, codes: Mapping[str, Document]) -> tuple[Variable, CodeRegister]:
    """Return the variable of a definition with its codes; a ValueError says that any are wrong."""
    problems: list[Problem] = []
    retired = [code for code, blocks in codes.items() if blocks == RETIRED]
    meant = {code: blocks for code, blocks in codes.items() if blocks != RETIRED}
    file = check({**tree, "codes": meant, "retired": retired}, "", VARIABLE_FILE, problems)
    variable = None if file is None else reading.variable_of(file, "", problems)
    if file is None or variable is None:
        raise ValueError
    register = reading.register_of(file, variable, "", problems)
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


INSTANCES: Final = "instance"
QUESTIONS: Final[Mapping[str, str]] = {
    "environment": "SELECT revision, codes_saved, name, description, rules FROM environment",
    "variable": "SELECT id, name, definition, folded FROM variable ORDER BY name, id",
    "code": "SELECT variable_id, code, blocks, since FROM code ORDER BY code, variable_id",
    "selection": "SELECT id, variable_id, labels FROM selection ORDER BY id",
    # Words of SQLite: elsewhere it is string_agg (`words`).
    INSTANCES: "SELECT form_id, group_concat(selection_id, ',') FROM"
    " (SELECT form_id, selection_id FROM instance ORDER BY form_id, selection_id)"
    " AS ordered GROUP BY form_id ORDER BY form_id",
    "form": "SELECT id, name, metadata, words, folded FROM form ORDER BY name, id",
    "form_group": "SELECT id, name, definition, folded FROM form_group ORDER BY name, id",
    "scenario": "SELECT id, name, body, folded FROM scenario ORDER BY name, id",
}
"""What is asked of each part; one row for all selections of a form together."""

# The same in half the time, by the index of the table; what is written is put in order here.
_UNORDERED = (
    "SELECT form_id, group_concat(selection_id, ',') FROM instance GROUP BY form_id"
    " ORDER BY form_id"
)
_SEALS = "SELECT part, digest FROM seal"
# Which parts a change of a kind can touch.
_TOUCHED: Final[Mapping[str, tuple[str, ...]]] = {
    "environment": (), "variable": ("variable",), "code": ("variable", "code"),
    "form": ("form", "selection", INSTANCES), "metadata": ("form",), "group": ("form_group",),
    "scenario": ("scenario",),
}  # fmt: skip


def digest_of(content: object) -> str:
    """Return the checksum of plain values, the same on every version of Python.

    Bytes where a text should be, which a flipped bit can make of it, are a contradiction.

    Examples
    --------
    >>> digest_of([(1, "a", None)]) == digest_of([(1, "a", "")])
    False
    """
    try:
        written = text_of(content).encode()
    except (TypeError, ValueError):
        raise Contradiction from None
    return blake2b(written, digest_size=8).hexdigest()


def sealed_answers(ask: Ask) -> dict[str, Sequence[tuple[Any, ...]]]:
    """Return the rows of every part; what differs from its checksum is a contradiction."""
    answers = {part: ask(question) for part, question in QUESTIONS.items()}
    seals = dict(ask(_SEALS))
    for part, rows in answers.items():
        if digest_of(rows) != seals.get(part) and digest_of(_ordered(part, rows)) != seals.get(
            part
        ):
            raise Contradiction
    return answers


def renew_seals(connection: Connection, kinds: Iterable[str] | None = None) -> None:
    """Write the checksums of the parts that changes of some kinds touch; of all by default."""
    # Imported here, as below: who only looks does without.
    from sqlalchemy import delete

    from gamekeeper.store.database import engines as tables

    touched = QUESTIONS if kinds is None else {part for k in kinds for part in _TOUCHED[k]}
    parts = {"environment", *touched}
    rows = [
        {"part": part, "digest": digest_of(_ordered(part, _rows(connection, question)))}
        for part, question in {**QUESTIONS, INSTANCES: _UNORDERED}.items()
        if part in parts
    ]
    connection.execute(delete(tables.seal).where(tables.seal.c.part.in_(parts)))
    connection.execute(tables.seal.insert(), rows)


def _rows(connection: Connection, question: str) -> list[tuple[Any, ...]]:
    # By the driver alone: rows of SQLAlchemy take three times as long, and whoever saves waits.
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(spoken(question, connection.dialect.name))
        return list(cursor.fetchall())


def _ordered(part: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    """Return rows as the questions have them, should the database not have kept to the order."""
    if part != INSTANCES:
        return rows
    return [(form, ",".join(sorted(text.split(","), key=int))) for form, text in rows]


_Part = TypeVar("_Part", Group, Scenario)
_METADATA: TypeAdapter[dict[str, Metadata]] = TypeAdapter(dict[str, Metadata])
_POSITION = "SELECT revision, codes_saved FROM environment"


@dataclass(frozen=True)
class State:
    """What a store holds at one moment: the newest revision, and how often codes were saved apart.

    `registers` has the codes as they are kept; the environment may have given more since.
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
        (variable for variable, _ in coded), _forms(answers),
        _made(answers["form_group"], group_of),
        scenarios=_made(answers["scenario"], scenario_from), name=name, description=description,
        registers=registers, rules=NO_RULES if rules is None else Rules.model_validate_json(rules),
    )  # fmt: skip
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
    tree = json.loads(text)
    questions = tuple(Question.model_validate(each) for each in tree.get("questions", ()))
    universe = tree.get("universe")
    return questions, universe and Universe.model_validate(universe)


def _made(rows: Sequence[tuple[Any, ...]], make: Callable[[Document], _Part]) -> list[_Part]:
    parts = [make(json.loads(text)) for _, _, text, _ in rows]
    if [part.name for part in parts] != [name for _, name, *_ in rows]:
        raise Contradiction
    return parts


def load_variables(
    connection: Connection, names: Collection[str]
) -> list[tuple[Variable, CodeRegister]]:
    """Return the variables of some names that are there, with their codes."""
    from sqlalchemy import select

    from gamekeeper.store.database import engines as tables

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
    from sqlalchemy import select

    from gamekeeper.store.database import engines as tables

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


_OPEN = "The store {} was to be opened."
_READ = "The environment in the store {} was to be read."


def read_state(path: str | StorePlace) -> State | None:
    """Return what a store holds; None if it is of an older version, which must be raised first.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     EnvironmentStore.create(f"{folder}/forms.gk", who="ana", name="Norland").close()
    ...     read_state(f"{folder}/forms.gk").environment.name
    'Norland'
    """
    access = access_of(place_of(path), readonly=True)
    access.require(_OPEN)

    def read() -> State | None:
        with access.asking() as ask:
            if version_of(ask, access.place, _OPEN) != VERSIONS[-1]:
                return None
            return attempt(_READ, access.place, lambda: load(ask))

    return attempt(_OPEN, access.place, read)
