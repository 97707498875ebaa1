"""Codes written into the variable files of a folder, which else stay as a person wrote them."""

from __future__ import annotations

import json
from pathlib import Path

from gamekeeper.errors import Problem, Reason, StoreError
from gamekeeper.files.sets import replace_files
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.store.layout import content, listed, unreadable
from gamekeeper.store.models import VARIABLE_FILE
from gamekeeper.store.parsing import decode, parse
from gamekeeper.store.variables import codes_of, register_of, retired_of, variable_of
from gamekeeper.wording import count_of, quoted, shown_path

_AGAIN = "Read the environment again."


def write_codes(environment: Environment, folder: str | Path) -> tuple[str, ...]:
    """Write the codes of an environment into the folder that it was read from.

    A variable file with all its codes is left alone. In others the codes that are missing are
    added, and nothing else changes but the indentation.

    Returns
    -------
    tuple of str
        The files that were changed, by their paths within the folder.

    Raises
    ------
    StoreError
        If a variable file is not the one that was read, or the system refuses. The message says
        whether anything was changed.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper import Form, Variable
    >>> from gamekeeper.store.folder import write_environment
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
        tree, _ = decode(data)
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
        raise StoreError(
            problems[0].reason,
            f"Codes were to be written to {shown_path(root.absolute())}.",
            f"Its variables have {count_of(len(problems), 'fault')}. Nothing was changed.",
            problems=problems,
        )
    replace_files(root, texts, ())
    return tuple(texts)


def _name_of(
    data: bytes, where: str, environment: Environment, problems: list[Problem]
) -> str | None:
    """Return the name of the variable in a file if it is that of the environment, codes and all."""
    file = parse(data, where, VARIABLE_FILE, problems)
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
