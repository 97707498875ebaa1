"""Whole files: there with all they hold, or not at all; for whom is kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.asides import clear_leftovers, make_folders, temporary_folder
from gamekeeper.files.sets import replace_files
from gamekeeper.files.writing import write_file

posix = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_new_files_are_for_their_owner_or_for_all_and_modes_are_kept(tmp_path: Path) -> None:
    private = write_file(tmp_path / "records.csv", b"1", private=True)
    shared = write_file(tmp_path / "plot.svg", b"1", private=False)
    assert (mode(private), mode(shared)) == (0o600, 0o644)
    private.chmod(0o640)
    shared.chmod(0o600)
    for path in (private, shared):
        before = mode(path)
        write_file(path, b"2", private=False)
        assert (path.read_bytes(), mode(path)) == (b"2", before)
    replace_files(tmp_path, {"plot.svg": b"3"}, ())
    assert (shared.read_bytes(), mode(shared)) == (b"3", 0o600)
    made = temporary_folder(tmp_path)
    make_folders(tmp_path / "a" / "b", [], private=True)
    assert [mode(path) for path in (made, tmp_path / "a", tmp_path / "a" / "b")] == [0o700] * 3


def test_what_is_there_stays_until_all_is_written(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.txt", b"old", private=True)

    def broken(file) -> None:
        file.write(b"half")
        file.flush()
        assert path.read_bytes() == b"old"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(path, broken, private=True)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_taken_is_not_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"

    def somebody_else_is_quicker(file) -> None:
        path.write_bytes(b"theirs")

    with pytest.raises(StoreError) as caught:
        write_file(path, somebody_else_is_quicker, private=True, replace=False)
    assert caught.value.reason is Reason.NOT_WRITABLE
    assert path.read_bytes() == b"theirs"
    with pytest.raises(StoreError, match="there already"):
        write_file(path, b"ours", private=True, replace=False)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a limit on the size of files")
def test_where_there_is_no_room_nothing_is_left(tmp_path: Path) -> None:
    import resource
    import signal

    path = write_file(tmp_path / "a.txt", b"old", private=True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        for target in (path, tmp_path / "b.txt"):
            with pytest.raises(StoreError) as caught:
                write_file(target, bytes(100_000), private=True)
            assert caught.value.reason is Reason.DISK_FULL
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_one_leftover_that_cannot_be_removed_keeps_no_other(tmp_path):
    path = tmp_path / "a.csv"
    start = f".{sha256(path.name.encode()).hexdigest()[:12]}-elsewhere-"
    for number in range(8):
        (tmp_path / f"{start}{number}0.tmp").mkdir()
        (tmp_path / f"{start}{number}1.tmp").touch()
    for left in tmp_path.iterdir():
        os.utime(left, (0, 0))
    clear_leftovers(path)
    assert [left.name for left in tmp_path.iterdir() if left.is_file()] == []
