"""An environment kept as a folder of sorted, diffable JSON, and single records read from files.

Each variable, form and group has a file of its own. The name in the file is what counts; the name
of the file is made from it. To write and to read again gives the same environment and codes. Codes
can be written into variable files that else stay as a person wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.files import FORMAT, replace_files
from gamekeeper.importing.proposing import DecisionsFile
from gamekeeper.mapping.edits import EDIT, Edit
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.environment.rules import NO_RULES, rules_tree
from gamekeeper.mapping.forms.form import Question
from gamekeeper.mapping.scenario.document import document_of
from gamekeeper.mapping.variables.codes import code_order, name_problems
from gamekeeper.mapping.variables.definitions import DEFINITION, Definition
from gamekeeper.results import Progress
from gamekeeper.store import file_shapes
from gamekeeper.store.place import slugs
from gamekeeper.store.reading import (
    FORM_FILE,
    HEADER,
    HEADER_FILE,
    Reading,
    checked_file,
    codes_of,
    content,
    form_tree,
    group_tree,
    header,
    listed,
    problems_of,
    read_tree,
    register_of,
    retired_of,
    shape_of,
    tree_of,
    unreadable,
    variable_of,
)
from gamekeeper.wording import count_of, did_you_mean, quoted, shown_path

_AGAIN = "Read the environment again."


def write_codes(environment: Environment, folder: str | Path) -> tuple[str, ...]:
    """Write the codes of an environment into the folder that it was read from.

    A variable file with all its codes is left alone. In others the codes that are missing are
    added, and nothing else changes but the indentation. Returned are the files that were changed,
    by their paths within the folder. A file that is not the one that was read is refused.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper import Variable
    >>> age = Variable.of_bands("Age", ["0-15", "16+"])
    >>> environment = Environment([age], [Form("Bank", {"Age": ["0-15", "16+"]})])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_environment(environment, folder)
    ...     file = Path(folder) / "variables" / "age.json"
    ...     _ = file.write_text('{"scale": "interval", "bands": ["under 16"], "name": "Age"}')
    ...     write_codes(environment, folder), list(json.loads(file.read_text()))
    (('variables/age.json',), ['scale', 'bands', 'name', 'codes'])
    """
    root = Path(folder)
    problems: list[Problem] = []
    texts: dict[str, bytes] = {}
    missing = dict.fromkeys(environment.variables)
    for place in listed(root, "variables", problems):
        try:
            data = content(root, place)
        except OSError as error:
            problems.append(unreadable(place, error))
            continue
        name = _name_of(data, place, environment, problems)
        if name is None:
            continue
        missing.pop(name, None)
        tree, _ = file_shapes.decode(data)
        before = tree.get("codes", {})
        register = environment.register(name)
        codes = codes_of(environment.variable(name), register)
        if codes.keys() - before.keys() or register.retired - set(tree.get("retired", ())):
            # What is there already may be in words of a person, which mean the same.
            tree["codes"] = codes | before
            if register.retired:
                tree["retired"] = retired_of(register)
            texts[place] = f"{json.dumps(tree, indent=1, ensure_ascii=False)}\n".encode()
    problems += [
        Problem(Reason.NOT_FOUND, f"variable {quoted([name])}", "has no file.", _AGAIN)
        for name in missing
    ]
    if problems:
        asked = f"Codes were to be written to {shown_path(root.absolute())}."
        found = f"Its variables have {count_of(len(problems), 'fault')}. Nothing was changed."
        raise StoreError(problems[0].reason, asked, found, problems=problems)
    replace_files(root, texts, ())
    return tuple(texts)


def _name_of(
    data: bytes, where: str, environment: Environment, problems: list[Problem]
) -> str | None:
    """Return the name of the variable in a file if it is that of the environment, codes and all."""
    file = file_shapes.parse(data, where, file_shapes.VARIABLE_FILE, problems)
    if file is None:
        return None
    variable = variable_of(file, where, problems)
    if variable is None:
        return None
    if environment.variables.get(file.name) != variable:
        found = f"is of {quoted([file.name])}, which the environment has not or has otherwise."
        problems.append(Problem(Reason.WRONG_SCHEMA, where, found, _AGAIN))
        return None
    given, known = register_of(file, variable, where, problems), environment.register(file.name)
    others = [
        code for code in given if code not in known or known.meaning(code) != given.meaning(code)
    ]
    others += sorted(given.retired - known.retired, key=code_order)
    if others:
        found = f"has codes that mean something else in the environment: {quoted(others)}."
        problems.append(Problem(Reason.INCONSISTENT_CODE, where, found, _AGAIN))
        return None
    return file.name


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
        "version": file_shapes.VERSION,
        "name": environment.name,
    }
    if environment.description:
        tree["description"] = environment.description
    if environment.rules != NO_RULES:
        tree["rules"] = rules_tree(environment.rules)
    return _text(file_shapes.check(tree, HEADER, HEADER_FILE, problems), HEADER, problems)


def _variable_text(environment: Environment, name: str, problems: list[Problem]) -> bytes:
    where = f"variable {quoted([name])}"
    variable = environment.variable(name)
    tree = tree_of(variable, environment.register(name))
    return _text(checked_file(tree, variable, where, problems), where, problems)


def _form_text(form: Form, problems: list[Problem]) -> bytes:
    where = f"form {quoted([form.name])}"
    file = file_shapes.check(form_tree(form, form.by_hand), where, FORM_FILE, problems)
    return _text(file, where, problems)


def _group_text(group: Group, problems: list[Problem]) -> bytes:
    where = f"group {quoted([group.name])}"
    tree = group_tree(group)
    if not group.description:
        del tree["description"]
    return _text(file_shapes.check(tree, where, file_shapes.GROUP_FILE, problems), where, problems)


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


_Model = TypeVar("_Model", bound=BaseModel)


def read_edits(file: Path) -> list[Edit]:
    """Read edits: a list of records, or a single one; no fault shows what the file holds.

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
        file_shapes.check(
            record, f"edit {number}" if isinstance(tree, list) else "edit", EDIT, problems
        )
        for number, record in enumerate(records, start=1)
    ]
    if problems:
        _refuse(file, "Edits were", problems)
    return [edit for edit in made if edit is not None]


def read_definition(file: Path) -> Definition:
    """Read the definition of a variable, as the files of an environment have it."""
    return _read(file, DEFINITION, "The definition of a variable was")


def read_form(file: Path) -> file_shapes.FormFile:
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
    made = file_shapes.check(_tree(file, asked, problems), file.name, shape, problems)
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


def read_named_graph(path: str | Path) -> tuple[str, PartitionGraph]:
    """Read a partition graph with its name.

    It is that of a variable file of an environment, or of a file with the fields `nodes`, a list of
    categories, and `edges`, a list of pairs of a category and a child. Other fields of the latter
    are passed over; its name is that of the file without the ending.

    Examples
    --------
    >>> import tempfile
    >>> text = '{"nodes": ["any", "female", "male"], "edges": [["any", "female"], ["any", "male"]]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sex.json"
    ...     _ = path.write_text(text)
    ...     name, graph = read_named_graph(path)
    >>> name, graph.sinks
    ('sex', ('female', 'male'))
    """
    file = Path(path)
    problems: list[Problem] = []
    named = _named_graph(file, problems)
    if named is None:
        asked = f"The partition graph in {shown_path(file)} was to be read."
        found = f"The file has {count_of(len(problems), 'fault')}."
        do = "Give a variable file of an environment, or a file with nodes and edges."
        raise InputError(problems[0].reason, asked, found, do, problems=problems)
    return named


def _named_graph(path: Path, problems: list[Problem]) -> tuple[str, PartitionGraph] | None:
    where, own = shown_path(path.name)[1:-1], shown_path(path.stem)[1:-1]
    read = read_tree(path.parent, path.name, where, problems)
    if read is None:
        return None
    tree, repeated = read
    if isinstance(tree, dict) and "scale" not in tree and {"nodes", "edges"} & set(tree):
        edges = file_shapes.check_once(
            tree, repeated, where, TypeAdapter(file_shapes.GraphFile), problems
        )
        graph = None if edges is None else _from_edges(edges, where, problems)
        return None if graph is None else (own, graph)
    file = file_shapes.check_once(tree, repeated, where, file_shapes.VARIABLE_FILE, problems)
    variable = None if file is None else variable_of(file, where, problems)
    return None if variable is None else (variable.name, variable.graph)


def _from_edges(
    file: file_shapes.GraphFile, where: str, problems: list[Problem]
) -> PartitionGraph | None:
    nodes = dict.fromkeys(file.nodes)
    found = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"{where}, edge {number}",
            f"names {quoted([name])}, which is not a node.",
            did_you_mean(name, nodes),
        )
        for number, edge in enumerate(file.edges, start=1)
        for name in edge
        if name not in nodes
    ]
    found += [
        Problem(p.reason, f"{where}, {p.where}", p.found, p.do)
        for p in name_problems("node", nodes)
    ]
    if len(nodes) < len(file.nodes):
        twice = quoted(name for name in nodes if file.nodes.count(name) > 1)
        found.append(
            Problem(Reason.DUPLICATE, where, f"has the nodes {twice} twice.", "Leave one out.")
        )
    if not found:
        try:
            return PartitionGraph.from_edges(
                nodes, [(parent, child) for parent, child in file.edges]
            )
        except InputError as error:
            found = problems_of(error, where)
    problems.extend(found)
    return None


def read_environment(folder: str | Path, *, progress: Progress | None = None) -> Environment:
    """Read an environment from its folder, the one with environment.json.

    `progress` is told how many files are read, of how many. One error has every problem of every
    file, and never shows what is in a file that is not one of an environment.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_environment(Environment([], name="Toy"), folder)
    ...     read_environment(folder)
    Environment('Toy', 0 forms, 0 variables, 0 groups)
    """
    root = Path(folder)
    head = _required_header(root)
    reading = Reading(root, progress)
    environment = None
    try:
        environment = reading.environment(head)
    except InputError as error:
        reading.problems.extend(reading.placed(error.problems))
    if environment is None or reading.problems:
        raise InputError(
            reading.problems[0].reason,
            _asked(root),
            f"Its files have {count_of(len(reading.problems), 'fault')}.",
            "Correct them and read it again.",
            problems=reading.problems,
        )
    return environment


def write_environment(environment: Environment, folder: str | Path) -> None:
    """Write an environment to its folder, a new one or that of an earlier state.

    Only files that change are written; those of variables, forms and groups that are gone are
    removed. All codes given so far are kept, so that each stays what it is. A folder that holds
    something else is refused, and so is an environment that holds what a file cannot; the message says
    whether anything was changed.
    """
    root = Path(folder)
    problems: list[Problem] = []
    texts = texts_of(environment, problems)
    head = header_text(environment, problems)
    if problems:
        found = f"It has {count_of(len(problems), 'fault')} for which files have no room."
        raise _refusal(root, found, "Correct the environment.", problems)
    _require_room(root)
    changed: dict[str, bytes] = {}
    stale: list[str] = []
    for kind, named in texts.items():
        changed |= _differences(root, kind, named, stale, problems)
    if problems:
        found = f"The folder holds {count_of(len(problems), 'thing')} of another kind."
        raise _refusal(root, found, "Take them away, or write to another folder.", problems)
    # It comes last: a folder is an environment when all else is there.
    if not (root / HEADER).exists() or content(root, HEADER) != head:
        changed[HEADER] = head
    replace_files(root, changed, stale)


def _asked(root: Path) -> str:
    return f"The environment in {shown_path(root)} was to be read."


def _required_header(root: Path) -> file_shapes.EnvironmentFile:
    """Return what environment.json says; without it nothing else is read."""
    problems: list[Problem] = []
    try:
        if not root.exists():
            reason, found, do = Reason.NOT_FOUND, "There is no such folder.", "Check the path."
        elif not root.is_dir():
            found = "It is a file, and an environment is a folder."
            reason, do = Reason.WRONG_SCHEMA, f"Name the folder that holds {HEADER}."
        elif not (root / HEADER).exists():
            found = f"The folder has no file {HEADER}."
            reason, do = Reason.NOT_FOUND, "Name the folder that holds it."
        else:
            head = header(root, problems)
            if head is not None:
                return head
            found = f"Its file {HEADER} cannot be used."
            reason, do = problems[0].reason, "Name the folder of an environment, or correct it."
    except OSError as error:
        problems.append(unreadable("folder", error))
        found = "The folder could not be looked into."
        reason, do = Reason.NOT_READABLE, "Check the path and the permissions."
    raise InputError(reason, _asked(root), found, do, problems=problems)


def _refusal(root: Path, found: str, do: str, problems: list[Problem]) -> StoreError:
    return StoreError(
        problems[0].reason if problems else Reason.NOT_WRITABLE,
        f"The environment was to be written to {shown_path(root.absolute())}.",
        f"{found} Nothing was changed.",
        do,
        problems=problems,
    )


def _differences(
    root: Path, kind: str, texts: Mapping[str, bytes], stale: list[str], problems: list[Problem]
) -> dict[str, bytes]:
    """Return the files of a kind to write, and add those to remove and those that are not ours.

    A file that a person named stays where it is, as long as it holds the same name.
    """
    places = {name: f"{kind}/{slug}.json" for name, slug in slugs(texts).items()}
    names = {place: name for name, place in places.items()}
    files = _contents(root, kind, problems)
    for place, before in files.items():
        if place in names and before == texts[names[place]]:
            continue
        file = file_shapes.parse(before, place, shape_of(kind), [])
        if file is None:
            found = f"is not a well-formed file of {kind}, so it is not replaced or removed."
            do = "Correct it or take it away."
            problems.append(Problem(Reason.WRONG_SCHEMA, place, found, do))
        elif place not in names:
            if file.name in places and places[file.name] not in files:
                places[file.name] = place
            else:
                stale.append(place)
    return {place: texts[name] for name, place in places.items() if files.get(place) != texts[name]}


def _contents(root: Path, kind: str, problems: list[Problem]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name in listed(root, kind, problems):
        try:
            files[name] = content(root, name)
        except OSError as error:
            problems.append(unreadable(name, error))
    return files


def _require_room(root: Path) -> None:
    problems: list[Problem] = []
    do = "Write to a new folder, or to that of an environment."
    try:
        there = next(path for path in (root, *root.absolute().parents) if path.exists())
        if not there.is_dir():
            raise _refusal(root, f"{shown_path(there)} is a file.", do, problems)
        if there != root:
            return
        if all(entry.name.startswith(".") for entry in root.iterdir()):
            return
        if not (root / HEADER).exists():
            found = f"The folder is not empty and has no file {HEADER}."
            raise _refusal(root, found, do, problems)
    except OSError as error:
        problems.append(unreadable("folder", error))
        raise _refusal(root, "The folder could not be looked into.", do, problems) from error
    if header(root, problems) is None:
        raise _refusal(root, f"Its file {HEADER} is not that of an environment.", do, problems)
