"""The names in an environment, for whoever types one of them."""

from __future__ import annotations

from pathlib import Path

from gamekeeper.store.place import StorePlace


def names_in(path: StorePlace, kind: str) -> list[str]:
    """Return the names of the forms, variables, groups or scenarios of a store or folder.

    A store is asked for its names alone, and nothing is imported that this does without.
    """
    if isinstance(path, Path) and path.is_dir():
        from gamekeeper.store.folder import read_environment

        return list(getattr(read_environment(path), kind))
    from gamekeeper.store.database.names import read_names

    return read_names(path, kind)
