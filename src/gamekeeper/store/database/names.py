"""The names in a store, read by themselves: all that is offered while somebody types."""

from __future__ import annotations

from typing import Final

from gamekeeper.store.database.access import access_of, place_of
from gamekeeper.store.database.refusals import attempt
from gamekeeper.store.place import StorePlace

_NAMES: Final = "The names in the store {} were asked for."

# A variable that was removed stays as a row without a definition.
_QUESTIONS: Final = {
    "forms": "SELECT name FROM form ORDER BY name, id",
    "variables": "SELECT name FROM variable WHERE definition IS NOT NULL ORDER BY name, id",
    "groups": "SELECT name FROM form_group ORDER BY name, id",
    "scenarios": "SELECT name FROM scenario ORDER BY name, id",
}


def read_names(path: str | StorePlace, kind: str) -> list[str]:
    """Return the names of forms, variables, groups or scenarios in their order.

    Nothing else is read or checked, so that it takes a few milliseconds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gamekeeper.mapping.edits import AddForm
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with EnvironmentStore.create(Path(folder) / "forms.gk", who="ana") as store:
    ...         _ = store.apply([AddForm(name="Bank")], who="ana")
    ...     read_names(Path(folder) / "forms.gk", "forms")
    ['Bank']
    """
    place = place_of(path)
    access = access_of(place, readonly=True)
    access.require(_NAMES)

    def read() -> list[str]:
        with access.asking() as ask:
            return [name for (name,) in ask(_QUESTIONS[kind])]

    return attempt(_NAMES, place, read)
