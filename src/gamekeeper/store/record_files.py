"""Single records read from JSON files: edits, the definition of a variable, a form."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn, TypeVar

from pydantic import BaseModel, TypeAdapter

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.importing.decisions import DecisionsFile
from gamekeeper.mapping.edits import EDIT, Edit
from gamekeeper.mapping.forms.questions import Question
from gamekeeper.mapping.variables.definitions import DEFINITION, Definition
from gamekeeper.store.forms import FORM_FILE
from gamekeeper.store.layout import read_tree
from gamekeeper.store.models import FormFile
from gamekeeper.store.parsing import check
from gamekeeper.wording import count_of, shown_path

_Model = TypeVar("_Model", bound=BaseModel)


def read_edits(file: Path) -> list[Edit]:
    """Read edits: a list of records, or a single one.

    Raises
    ------
    InputError
        With every fault of every record, and nothing of what the file holds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "edits.json"
    ...     _ = file.write_text('{"edit": "remove-form", "form": "Bank"}')
    ...     [edit.form for edit in read_edits(file)]
    ['Bank']
    """
    problems: list[Problem] = []
    tree = _tree(file, "Edits were", problems)
    records = tree if isinstance(tree, list) else [tree]
    made = [
        check(record, f"edit {number}" if isinstance(tree, list) else "edit", EDIT, problems)
        for number, record in enumerate(records, start=1)
    ]
    if problems:
        _refuse(file, "Edits were", problems)
    return [edit for edit in made if edit is not None]


def read_definition(file: Path) -> Definition:
    """Read the definition of a variable, as the files of an environment have it."""
    return _read(file, DEFINITION, "The definition of a variable was")


def read_form(file: Path) -> FormFile:
    """Read a form, as the files of an environment have it."""
    return _read(file, FORM_FILE, "A form was")


def read_question(file: Path) -> Question:
    """Read a question, as the file of a form has it."""
    return _read(file, TypeAdapter(Question), "A question was")


def read_decisions(file: Path) -> DecisionsFile:
    """Read decisions on the questions of instruments."""
    return _read(file, TypeAdapter(DecisionsFile), "Decisions were")


def _read(file: Path, shape: TypeAdapter[_Model], asked: str) -> _Model:
    problems: list[Problem] = []
    made = check(_tree(file, asked, problems), file.name, shape, problems)
    if made is None or problems:
        _refuse(file, asked, problems)
    return made


def _tree(file: Path, asked: str, problems: list[Problem]) -> object:
    read = read_tree(file.parent, file.name, "file", problems)
    if read is not None:
        tree, repeated = read
        if not repeated:
            return tree
        found = "has an object with a key twice."
        problems.append(Problem(Reason.DUPLICATE, "file", found, "Leave one out."))
    _refuse(file, asked, problems)


def _refuse(file: Path, asked: str, problems: list[Problem]) -> NoReturn:
    raise InputError(
        problems[0].reason,
        f"{asked} to be read from {shown_path(file)}.",
        f"The file has {count_of(len(problems), 'fault')}.",
        "Correct it; docs/reference/schema has the schemas.",
        problems=problems,
    )
