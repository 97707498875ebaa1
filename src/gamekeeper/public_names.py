"""Public names of a package: written once, in its stub file, and loaded where they are first used.

A stub (`.pyi`) lies beside its module and says, for people, editors and type checkers alike, where
each name comes from. Whoever imports the module pays for nothing that is not asked for::

    __getattr__, __dir__ = names_of(__name__, __file__)

It is imported before Ctrl-C is provided for, so that it imports nothing itself that takes time.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Places = dict[str, tuple[str, str]]
"""For each public name its module and its name there; a module itself has no name there."""


def names_of(module: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module whose names its stub has.

    >>> import gamekeeper
    >>> "count_keys" in dir(gamekeeper), gamekeeper.count_keys.__module__
    (True, 'gamekeeper.data.keys.counting')
    """
    places: Places = {}

    def known() -> Places:
        if not places:
            places.update(_read(module, file))
        return places

    def load(name: str) -> object:
        if name == "__all__":
            return sorted(known())
        if name.startswith("__") or name not in known():
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from importlib import import_module

        home, there = places[name]
        value = getattr(import_module(home), there) if there else import_module(home)
        # The next one who asks finds it without coming here.
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: sorted(known())


def _read(module: str, file: str) -> Places:
    """Return the places that a stub's imports name; it has nothing else."""
    import ast
    from pathlib import Path

    places: Places = {}
    for line in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(line, ast.ImportFrom) and line.module:
            for name in line.names:
                # What a package imports from itself is one of its modules.
                place = (line.module, name.name)
                within = (f"{module}.{name.name}", "")
                places[name.asname or name.name] = within if line.module == module else place
        elif isinstance(line, ast.Assign):
            # A stub gives a name of its own to what it imports by "files = _link_files".
            (here,), what = line.targets, line.value
            assert isinstance(here, ast.Name)
            assert isinstance(what, ast.Name)
            places[here.id] = places[what.id]
    return {name: place for name, place in places.items() if not name.startswith("_")}
