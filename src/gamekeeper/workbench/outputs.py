"""Files that a request asks for: looked at before any work is done, written when it is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import Option, paths, written
from gamekeeper.report.figures import save_figure
from gamekeeper.report.saving import PAGE_ENDINGS, PICTURE_ENDINGS
from gamekeeper.report.tables import TABLE_ENDINGS, write_table
from gamekeeper.wording import count_of, quoted

_ENDINGS = {
    "table": TABLE_ENDINGS,
    "picture": PICTURE_ENDINGS,
    "page": PAGE_ENDINGS,
    "json": (".json",),
}


def require_outputs(asked: Any, *, outside: Path | None = None) -> None:
    """Refuse before any work what could not be written, or would spoil what is read.

    Every file that the request names and does not write counts as read. `outside` is a folder that
    nothing may be written to.
    """
    read = [path for path in paths(asked) if path.exists()]
    faults = [(path, *_fault(option, path, read, outside)) for option, path in written(asked)]
    problems = [
        Problem(Reason.NOT_WRITABLE, f"file {quoted([str(path)], letters=400)}", found, do)
        for path, found, do in faults
        if found
    ]
    if problems:
        raise InputError(
            Reason.NOT_WRITABLE,
            f"{count_of(len(problems), 'file')} could not be written.",
            "Nothing was done.",
            problems=problems,
        )


def write_outputs(asked: Any, found: Any, **ways: Callable[[Path], object]) -> None:
    """Write the files that a request asks for.

    A table and a picture are those of the result, `found.to_arrow()` and `found.plot()`. Other
    kinds need a way to be written (`page=...`), and a way that is given comes first.
    """
    for option, path in written(asked):
        way = ways.get(option.writes)
        if way is not None:
            way(path)
        elif option.writes == "table":
            write_table(found.to_arrow(), path)
        else:
            assert option.writes == "picture", f"no way to write a {option.writes} is given"
            save_figure(found.plot(), path)


def _fault(option: Option, path: Path, read: list[Path], outside: Path | None) -> tuple[str, str]:
    """Return what is wrong with a file that is to be written and what to do, or nothing."""
    endings = _ENDINGS.get(option.writes, ())
    if endings and path.suffix.lower() not in endings:
        return "has a name with another ending.", f"Let it end in {' or '.join(endings)}."
    if not path.parent.is_dir():
        return "lies in a folder that does not exist.", "Make the folder first."
    if outside is not None and path.resolve().is_relative_to(outside.resolve()):
        return "lies within the environment.", "Write it elsewhere."
    if path.exists() and any(path.samefile(source) for source in read):
        return "is to be read, and would be replaced.", "Write to another file."
    return "", ""
