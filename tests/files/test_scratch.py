"""What engines keep while they work is there whole or not at all."""

from __future__ import annotations

import pytest

from gamekeeper.files.scratch import make_folder, make_link, put_file


def test_a_file_takes_the_place_of_another(tmp_path):
    path = tmp_path / "outcome"
    put_file(path, b"first")
    put_file(path, lambda file: file.write(b"second"))
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [
        ("outcome", b"second")
    ]


def test_a_file_that_fails_leaves_what_was_there(tmp_path):
    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    path = tmp_path / "outcome"
    put_file(path, b"first")
    with pytest.raises(OSError, match="No space"):
        put_file(path, fail)
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [
        ("outcome", b"first")
    ]


def test_folders_and_links_are_new(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_file(tmp_path / "data", b"data")
    folder = tmp_path / "folder"
    make_folder(folder)
    make_link(folder / "link", (tmp_path / "data").relative_to(tmp_path))
    assert (folder / "link").read_bytes() == b"data"
    with pytest.raises(FileExistsError):
        make_folder(folder)
    with pytest.raises(FileExistsError):
        make_link(folder / "link", tmp_path / "other")
