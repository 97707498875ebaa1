"""Stores that are made once in a process and copied then: making one takes it through all migrations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_kept: dict[str, list[tuple[str, bytes, int]]] = {}


def copy_of(name: str, path: Path, make: Callable[[Path], object]) -> Path:
    """Let a store of a name be at a path: made, and closed, the first time, and copied from then on."""
    if name not in _kept:
        make(path)
        # Its backup stands beside it.
        made = sorted(path.parent.glob(f"{path.name}*"))
        _kept[name] = [(one.name, one.read_bytes(), one.stat().st_mode) for one in made]
    for beside, content, mode in _kept[name]:
        (path.parent / beside).write_bytes(content)
        (path.parent / beside).chmod(mode)
    return path
