"""What lies where in an environment folder, and whether a folder is one.

environment.json says that it is one; variables, forms and groups are folders with one file each.
Whatever starts with a dot is passed over, and so are files named README. Anything else that is no
.json file is a fault: a form that is left out by its name would understate the risk unseen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from gamekeeper.errors import Problem, Reason
from gamekeeper.files.gate import ENVIRONMENT, FORMAT
from gamekeeper.files.reading import require_ordinary
from gamekeeper.mapping.scenario.document import SCENARIO
from gamekeeper.store.forms import FORM_FILE
from gamekeeper.store.models import GROUP_FILE, VARIABLE_FILE, VERSION, EnvironmentFile
from gamekeeper.store.parsing import Undecodable, check_once, decode
from gamekeeper.wording import quoted, unfit_character

HEADER: Final = ENVIRONMENT
HEADER_FILE = TypeAdapter(EnvironmentFile)
SHAPES: Final[Mapping[str, TypeAdapter[Any]]] = {
    "variables": VARIABLE_FILE,
    "forms": FORM_FILE,
    "groups": GROUP_FILE,
    "scenarios": SCENARIO,
}
"""The folders with the shape of their files, in the order in which they are read."""


def header(root: Path, problems: list[Problem]) -> EnvironmentFile | None:
    """Return what environment.json says, or None after adding what is wrong with it."""
    read = read_tree(root, HEADER, HEADER, problems)
    if read is None:
        return None
    tree, repeated = read
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        found = f"does not say that its format is '{FORMAT}'."
        problems.append(Problem(Reason.WRONG_SCHEMA, HEADER, found, "Check the folder."))
        return None
    version: object = tree.get("version")
    if isinstance(version, int) and version > VERSION:
        found = f"is of version {version}, newer than version {VERSION}, the last that is known."
        problems.append(Problem(Reason.WRONG_SCHEMA, HEADER, found, "Update Gamekeeper."))
        return None
    return check_once(tree, repeated, HEADER, HEADER_FILE, problems)


def listed(root: Path, kind: str, problems: list[Problem]) -> list[str]:
    """Return the JSON files in one of the folders, sorted; a folder that is missing has none."""
    names: list[str] = []
    found: list[Problem] = []
    try:
        with os.scandir(root / kind) as entries:
            for entry in entries:
                is_json = entry.name.lower().endswith(".json")
                if entry.name.startswith(".") or (not is_json and _is_readme(entry.name)):
                    continue
                strange = _strange(kind, entry, is_json=is_json)
                if strange is None:
                    names.append(f"{kind}/{entry.name}")
                else:
                    found.append(strange)
    except FileNotFoundError:
        return []
    except OSError as error:
        found.append(unreadable(f"folder {kind}", error))
    problems += sorted(found, key=lambda problem: problem.where)
    return sorted(names)


def content(root: Path, name: str) -> bytes:
    """Return what a file holds."""
    # A Path for each of ten thousand files would cost a third of reading them.
    require_ordinary(f"{root}/{name}")
    with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
        return file.read()


def read_tree(
    root: Path, name: str, where: str, problems: list[Problem]
) -> tuple[Any, list[str]] | None:
    """Return what a JSON file stands for, as `decode` does, or None after adding why it does not."""
    try:
        return decode(content(root, name))
    except OSError as error:
        problems.append(unreadable(where, error))
    except Undecodable as fault:
        problems.append(Problem(fault.reason, where, fault.found, fault.do))
    return None


def unreadable(where: str, error: OSError) -> Problem:
    """Return the problem that a file or folder cannot be read."""
    found = f"could not be read: {error.strerror or 'no reason given'}."
    return Problem(Reason.NOT_READABLE, where, found, "Check that it is there and permitted.")


def _is_readme(name: str) -> bool:
    return name.lower().partition(".")[0] == "readme"


def _strange(kind: str, entry: os.DirEntry[str], *, is_json: bool) -> Problem | None:
    """Return why something in one of the folders is not a file to read, if so."""
    if unfit := unfit_character(entry.name):
        where = f"{kind}, file {quoted([entry.name])}"
        return Problem(Reason.BAD_NAME, where, f"has a name with {unfit}.", "Rename it.")
    if is_json:
        return None
    where = f"{kind}/{entry.name}"
    if entry.is_dir():
        found = f"is a folder, and only the files in {kind} are read."
        do = f"Put its files into {kind}, or take it away."
    else:
        found, do = "is not a .json file.", "Take it away or rename it."
    return Problem(Reason.WRONG_SCHEMA, where, found, do)
