"""A disk without room: the store can be read, and an edit is refused as one clear error."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.edits import AddForm
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.store.database.conftest import WHO


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only the superuser can mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, leave: int) -> None:
    rest = disk / "rest"
    with suppress(OSError), rest.open("wb", buffering=0) as file:
        while file.write(bytes(4_096)):
            pass
    assert shutil.disk_usage(disk).free == 0
    with rest.open("r+b") as file:
        file.truncate(max(0, rest.stat().st_size - leave))


def test_a_store_on_a_full_disk_is_read_and_not_changed(small_disk: Path) -> None:
    path = small_disk / "forms.gk"
    with EnvironmentStore.create(path, who=WHO) as store:
        store.apply([AddForm(name="Bank")], who=WHO)
    before = path.read_bytes()
    fill(small_disk, 0)
    with EnvironmentStore.open(path) as store:
        assert list(store.environment().forms) == ["Bank"]
        with pytest.raises(StoreError) as caught:
            store.apply([AddForm(name="Shop")], who=WHO)
        assert caught.value.reason is Reason.DISK_FULL
    assert path.read_bytes() == before


def test_no_room_for_a_backup_loses_no_edit(small_disk: Path) -> None:
    path = small_disk / "forms.gk"
    EnvironmentStore.create(path, who=WHO).close()
    fill(small_disk, 88_000)
    store = EnvironmentStore.open(path)
    store.apply([AddForm(name="Bank")], who=WHO)
    with pytest.raises(StoreError) as caught:
        store.close()
    assert caught.value.reason is Reason.DISK_FULL
    assert "is saved" in caught.value.found
    assert "Nothing was changed" not in caught.value.message
    (small_disk / "rest").unlink()
    with EnvironmentStore.open(path) as again:
        assert list(again.environment().forms) == ["Bank"]
