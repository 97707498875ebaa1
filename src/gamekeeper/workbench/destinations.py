"""Files to be written, looked at before any work is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

__all__ = ["require_destinations"]


def require_destinations(
    files: Mapping[Path | None, Sequence[str]],
    *,
    outside: Path | None = None,
    read: Iterable[Path | None] = (),
) -> None:
    """Refuse before any work what could not be written, or would spoil what is read from.

    `files` has the endings that the name of each file may have; `outside` is a folder that none
    of them may lie in, and `read` are files that none of them may replace.
    """
    kept = [file for file in read if file is not None and file.exists()]
    problems: list[Problem] = []
    for file, endings in files.items():
        if file is None:
            continue
        if file.suffix.lower() not in endings:
            found, do = "has a name with another ending.", f"Let it end in {' or '.join(endings)}."
        elif not file.parent.is_dir():
            found, do = "lies in a folder that does not exist.", "Make the folder first."
        elif outside is not None and file.resolve().is_relative_to(outside.resolve()):
            found, do = "lies within the environment.", "Write it elsewhere."
        elif file.exists() and any(file.samefile(source) for source in kept):
            found, do = "is to be read, and would be replaced.", "Write to another file."
        else:
            continue
        where = f"file {quoted([str(file)], letters=400)}"
        problems.append(Problem(Reason.NOT_WRITABLE, where, found, do))
    if problems:
        raise InputError(
            Reason.NOT_WRITABLE,
            f"{count_of(len(problems), 'file')} could not be written.",
            "Nothing was done.",
            problems=problems,
        )
