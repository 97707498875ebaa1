"""Files: what may be written where, whole or not at all, and for whom."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files import (
    clear_leftovers,
    fault_of_file,
    fault_of_folder,
    make_folder,
    make_folders,
    make_link,
    put_file,
    replace_files,
    require_ordinary,
    temporary_folder,
    write_file,
)
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
