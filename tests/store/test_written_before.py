"""A store and folders that an earlier version wrote are read, and written again as they were.

`written` has a store (packed) with ten revisions, the folders of its first and of its last, and its
history. Folders are compared byte for byte, documents in the store by the checksums that it has.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import select

from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.changes import differences, packed, unpacked
from gamekeeper.store.database.engines import METADATA, reading, revision
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file import FileAccess
from gamekeeper.store.folder import read_environment, write_environment

WRITTEN = Path(__file__).with_name("written")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The store, unpacked."""
    place = tmp_path / "forms.gk"
    place.write_bytes(gzip.decompress((WRITTEN / "forms.gk.gz").read_bytes()))
    return place


def folder(name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(WRITTEN / f"{name}.zip") as packed_folder:
        return {entry: packed_folder.read(entry) for entry in packed_folder.namelist()}


def written(environment: Environment, place: Path) -> dict[str, bytes]:
    write_environment(environment, place)
    return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*.json")}


@pytest.mark.parametrize("name", ["first", "last"])
def test_a_folder_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    for entry, content in folder(name).items():
        file = tmp_path / "read" / entry
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    assert written(read_environment(tmp_path / "read"), tmp_path / "again") == folder(name)


def test_a_store_is_what_its_folders_say(path: Path, tmp_path: Path) -> None:
    with EnvironmentStore.open(path) as store:
        store.check()
        assert written(store.environment(), tmp_path / "last") == folder("last")
        first = written(store.environment(as_of=1), tmp_path / "first")
        told = [
            [at.number, at.at.isoformat(), at.who, at.action.value, at.of, at.note, list(at.words)]
            for at in store.history()
        ]
    # Codes given since the first revision are kept, so those of its folder are among them.
    for name, content in folder("first").items():
        before, now = json.loads(content), json.loads(first[name])
        codes, given = before.pop("codes", {}), now.pop("codes", {})
        assert codes.items() <= given.items()
        now.pop("retired", None)
        assert before == now
    assert told == json.loads((WRITTEN / "history.json").read_text(encoding="utf-8"))


def test_what_a_revision_changed_is_worked_out_as_it_was_kept(path: Path) -> None:
    engine = FileAccess(path, readonly=True).engine()
    with reading(engine) as connection:
        kept = {
            row.number: row.changes
            for row in connection.execute(select(revision.c.number, revision.c.changes))
        }
        assert set(METADATA.tables) == {"environment", "variable", "code", "form", "selection"} | {
            *("instance", "form_group", "scenario", "revision", "touch", "seal")
        }
    engine.dispose()
    assert all(packed(unpacked(changes)) == changes for changes in kept.values())
    with EnvironmentStore.open(path, readonly=True) as store:
        for number in sorted(kept)[1:]:
            before, after = store.environment(as_of=number - 1), store.environment(as_of=number)
            known = {name: before.register(name) for name in before.variables}
            found = differences(before, known, after, [])
            want = [change for change in unpacked(kept[number]) if change.kind != "code"]
            assert [change for change in found if change.kind != "code"] == want
