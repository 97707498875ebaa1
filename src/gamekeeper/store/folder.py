"""An environment kept as a folder of sorted, diffable JSON.

Each variable, form and group has a file of its own. The name in the file is what counts; the name
of the file is made from it. To write and to read again gives the same environment and codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gamekeeper.errors import InputError, Problem, Reason, StoreError
from gamekeeper.files.sets import replace_files
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.results import Progress
from gamekeeper.store.layout import HEADER, SHAPES, content, header, listed, unreadable
from gamekeeper.store.models import EnvironmentFile
from gamekeeper.store.parsing import parse
from gamekeeper.store.reading import Reading
from gamekeeper.store.slugs import slugs
from gamekeeper.store.texts import header_text, texts_of
from gamekeeper.wording import count_of, shown_path


def read_environment(folder: str | Path, *, progress: Progress | None = None) -> Environment:
    """Read an environment from its folder.

    Parameters
    ----------
    folder
        The folder with environment.json.
    progress
        Told how many files are read, of how many.

    Raises
    ------
    InputError
        With every problem of every file. It never shows what is in a file that is not one of
        an environment.

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
    removed. All codes given so far are kept, so that each stays what it is.

    Raises
    ------
    StoreError
        If the folder holds something else, the environment holds what a file cannot, or the
        system refuses. The message says whether anything was changed.
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


def _required_header(root: Path) -> EnvironmentFile:
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
        file = parse(before, place, SHAPES[kind], [])
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
    """Refuse what is not a folder, or a folder with anything but an environment."""
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
