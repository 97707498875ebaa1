"""The gate: what may be written where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gamekeeper.files.gate import fault_of_file, fault_of_folder
from gamekeeper.files.reading import require_ordinary
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.folder import write_environment


def fault(path: Path, *, replace: bool = True) -> str:
    return fault_of_file(path, replace=replace)[0]


def test_a_new_file_passes_and_one_that_is_there_with_leave(tmp_path: Path) -> None:
    assert fault(tmp_path / "new.csv", replace=False) == ""
    there = tmp_path / "there.csv"
    there.write_text("")
    assert fault(there) == ""
    assert fault(there, replace=False) == "is there already."


def test_only_ordinary_files_are_written(tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("")
    pipe, link, dangling = tmp_path / "pipe", tmp_path / "link", tmp_path / "dangling"
    os.mkfifo(pipe)
    link.symlink_to(there)
    dangling.symlink_to(tmp_path / "nowhere")
    assert "pipe" in fault(pipe)
    assert "device" in fault(Path(os.devnull))
    assert fault(link) == fault(dangling) == "is a link, and links are not followed."
    assert fault(tmp_path) == "is a folder."
    assert fault(tmp_path / "no" / "file") == "lies in a folder that does not exist."
    assert "cannot be" in fault(tmp_path / ("x" * 300))
    assert "cannot be" in fault(tmp_path / "a\0b")
    for path in (pipe, Path(os.devnull)):
        with pytest.raises(OSError, match="no ordinary file"):
            require_ordinary(path)


def test_a_store_and_what_belongs_to_it_are_safe(tmp_path: Path) -> None:
    store = tmp_path / "s.gk"
    EnvironmentStore.create(store, who="ana").close()
    assert "store" in fault(store)
    assert "store" in fault(tmp_path / "s.gk.backup")
    for ending in ("-wal", "-shm", "-journal"):
        assert "part of the store" in fault(tmp_path / f"s.gk{ending}")
    (tmp_path / "s.gk.backup").unlink()
    assert "part of the store" in fault(tmp_path / "s.gk.backup")
    assert fault(tmp_path / "notes-journal") == ""


def test_an_environment_is_kept_clean_and_a_file_of_that_name_alone_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "environment"
    write_environment(Environment([], name="none"), folder)
    for place in (folder / "new.csv", folder / "environment.json"):
        assert fault(place) == "lies within an environment."
    (folder / "deep" / "down").mkdir(parents=True)
    assert fault(folder / "deep" / "down" / "new.csv") == "lies within an environment."
    for place in (folder, folder / "new"):
        assert fault_of_folder(place)[0] == "is an environment, or lies within one."
    assert fault_of_folder(folder, may_be_environment=True) == ("", "")
    assert fault_of_folder(folder / "new", may_be_environment=True)[0]
    other = tmp_path / "other"
    other.mkdir()
    (other / "environment.json").write_text('{"title": "gamekeeper environment"}')
    assert fault(other / "new.csv") == ""
    assert fault_of_folder(other / "environment.json")[0] == "is a file."
    (tmp_path / "link").symlink_to(other)
    assert "link" in fault_of_folder(tmp_path / "link")[0]
