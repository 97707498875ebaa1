from __future__ import annotations

from pathlib import Path

import pytest

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.sets import replace_files


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_files_are_written_replaced_and_removed(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("old")
    (tmp_path / "same.json").write_text("old")
    replace_files(tmp_path, {"same.json": b"new", "below/new.json": b"new"}, ["old.json"])
    assert names(tmp_path) == {"same.json", "below", "below/new.json"}
    assert (tmp_path / "same.json").read_text() == "new"


def test_long_file_names_are_no_hindrance(tmp_path: Path) -> None:
    replace_files(tmp_path, {"x" * 250 + ".json": b""}, [])
    assert names(tmp_path) == {"x" * 250 + ".json"}


def test_a_failure_while_writing_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    (tmp_path / "file").write_text("no folder")
    before = names(tmp_path)
    texts = {"a.json": b"new", "new/b.json": b"new", "new/" + "x" * 300: b"new", "file/c.json": b""}
    with pytest.raises(StoreError, match=r"Nothing was changed\.") as caught:
        replace_files(tmp_path, texts, [])
    assert f"The system refused '{tmp_path / 'file' / 'c.json'}'" in str(caught.value)
    assert caught.value.reason is Reason.NOT_WRITABLE
    assert names(tmp_path) == before
    assert (tmp_path / "a.json").read_text() == "old"


def test_a_failure_while_replacing_says_how_far_it_came(tmp_path: Path) -> None:
    (tmp_path / "b.json").mkdir()
    texts = {"a.json": b"new", "b.json": b"new", "c.json": b"new"}
    with pytest.raises(StoreError, match=r"1 file had been changed before\.") as caught:
        replace_files(tmp_path, texts, [])
    assert f"The system refused '{tmp_path / 'b.json'}'" in str(caught.value)
    assert names(tmp_path) == {"a.json", "b.json"}
