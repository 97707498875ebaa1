"""Files of others in a process of its own: what it may take, what comes back, what becomes of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
import xlsxwriter

from gamekeeper.budget import within_memory
from gamekeeper.data.reading import apart as module
from gamekeeper.data.reading.apart import apart, limits_for, plain_of, send_plain
from gamekeeper.data.reading.source import open_source
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from tests.given.hostile import SPELLINGS, far_apart, xlsx

CANARY = "canary-4711"
HOW = {"asked": "A file was to be read.", "do": "Do otherwise."}


def greedy(out, n_bytes):
    kept = b"x" * n_bytes
    send_plain(out, len(kept))


def busy(out):
    while True:
        pass


def asleep(out):
    time.sleep(600)


def broken(out, number):
    os.kill(os.getpid(), number)


def ours(out):
    problem = Problem(Reason.BAD_NAME, "column 'a'", "It has none.", "Give one.")
    raise InputError(Reason.WRONG_SCHEMA, "Asked.", "Found.", "Do.", problems=[problem])


def theirs(out):
    print(CANARY)
    sys.stderr.write(CANARY)
    raise ValueError(CANARY)


def half(out):
    send_plain(out, 1)
    out.flush()
    raise ValueError(CANARY)


def noisy(out):
    print(CANARY, flush=True)
    os.write(1, CANARY.encode())
    send_plain(out, {"pid": os.getpid()})


def endless(out):
    send_plain(out, os.getpid())
    while True:
        out.write(b" " * 1_000_000)


def writes(out, path):
    Path(path).write_text(CANARY)


def file_of(tmp_path: Path, n_bytes: int = 10) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"x" * n_bytes)
    return path


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_is_read_comes_back_from_another_process_without_what_libraries_print(tmp_path):
    told = plain_of(noisy, path=file_of(tmp_path), **HOW)
    assert told["pid"] != os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts address space")
def test_no_more_memory_is_taken_than_is_allowed(tmp_path):
    path = file_of(tmp_path)
    assert plain_of(greedy, 100_000_000, path=path, **HOW) == 100_000_000
    with within_memory("80MB"), pytest.raises(LimitError) as refused:
        plain_of(greedy, 100_000_000, path=path, **HOW)
    assert "more than 80 MB of memory" in str(refused.value)
    assert (refused.value.asked, refused.value.do) == tuple(HOW.values())
    with within_memory("200MB"):
        assert plain_of(greedy, 100_000_000, path=path, **HOW) == 100_000_000


@pytest.mark.slow
@pytest.mark.parametrize("endless_work", [busy, asleep])
def test_no_more_time_is_taken_than_is_allowed(tmp_path, monkeypatch, endless_work):
    monkeypatch.setattr(module, "_LEAST_SECONDS", 1)
    monkeypatch.setattr(module, "_PATIENCE", 2 if endless_work is asleep else 60)
    with pytest.raises(LimitError, match="takes more than 1 second"):
        plain_of(endless_work, path=file_of(tmp_path), **HOW)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL])
def test_what_breaks_down_breaks_down_alone(tmp_path, number):
    with pytest.raises(LimitError, match=r"needs more than 1\.1 GB .* or the file is damaged"):
        plain_of(broken, int(number), path=file_of(tmp_path), **HOW)


def test_errors_of_ours_come_back_as_they_are(tmp_path):
    with pytest.raises(InputError) as refused:
        plain_of(ours, path=file_of(tmp_path), **HOW)
    with pytest.raises(InputError) as here:
        ours(None)
    assert str(refused.value) == str(here.value)
    assert refused.value.reason is here.value.reason
    assert refused.value.problems == here.value.problems


@pytest.mark.parametrize("fault", [theirs, half])
def test_of_other_errors_the_place_alone_is_told(tmp_path, fault, capfd):
    with pytest.raises(InputError, match="ValueError in") as refused:
        plain_of(fault, path=file_of(tmp_path), **HOW)
    assert refused.value.reason is Reason.MALFORMED
    seen = capfd.readouterr()
    assert CANARY not in f"{refused.value}{seen.out}{seen.err}"


@pytest.mark.parametrize("fault", [KeyError, GeneratorExit, KeyboardInterrupt])
def test_whoever_stops_reading_stops_the_process(tmp_path, fault):
    seen = []

    def stop():
        with apart(endless, path=file_of(tmp_path), **HOW) as told:
            seen.append(int(told.read(8).split()[0]))
            assert is_there(seen[0])
            raise fault

    with pytest.raises(fault):
        stop()
    assert not is_there(seen[0])


@pytest.mark.skipif(os.name != "posix", reason="there are no such limits")
def test_a_reader_writes_no_file(tmp_path):
    with pytest.raises(InputError):
        plain_of(writes, str(tmp_path / "made"), path=file_of(tmp_path), **HOW)
    assert not (tmp_path / "made").exists() or not (tmp_path / "made").read_bytes()


def test_more_is_not_taken_than_the_caller_has_room_for(tmp_path):
    with within_memory("100MB"), pytest.raises(LimitError, match="comes to more than"):
        plain_of(endless, path=file_of(tmp_path), **HOW)


def test_limits_grow_with_the_file_and_follow_the_budget(tmp_path):
    small, large = file_of(tmp_path), tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(100_000_000)
    assert limits_for(small) == ((1 << 30) + 600, 60)
    assert limits_for(large)[1] == 560
    assert limits_for(large)[0] > limits_for(small)[0]
    with within_memory("3GB"):
        assert limits_for(small)[0] == limits_for(large)[0] == 3_000_000_000
    # With less nothing could be read at all.
    with within_memory("1MB"):
        assert limits_for(large)[0] == 1 << 26


@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts address space")
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("cell", ["XFD1048576", "xfd1048576", "XFD12000"])
def test_a_cell_far_from_all_others_ends_nothing(tmp_path, cell, spelling):
    path = far_apart(tmp_path / "far.xlsx", cell, spelling)
    with pytest.raises(LimitError, match="Save it as CSV") as refused:
        open_source(path)
    assert refused.value.reason is Reason.TOO_LARGE


def test_columns_of_a_workbook_are_of_one_kind_however_long(tmp_path):
    path = tmp_path / "long.xlsx"
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(2, 1, ["whole", "late", "empty", "large"])
        for place in range(20_000):
            late = "x" if place == 19_000 else place
            sheet.write_row(place + 3, 1, [place, late, None, 1e300])
    source = open_source(path)
    assert source.names == ("whole", "late", "empty", "large")
    table = pa.Table.from_batches(source.batches(source.names))
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "string", "string"]
    assert table["whole"].to_pylist() == list(range(20_000))
    assert table["late"].to_pylist()[18_999:19_002] == ["18999", "x", "19001"]
    assert table["empty"].null_count == 20_000


def test_a_workbook_whose_sums_do_not_fit_is_refused(tmp_path):
    path = xlsx(tmp_path / "x.xlsx", '<row r="1"><c r="A1"><v>1</v></c></row>' * 40)
    content = bytearray(path.read_bytes())
    place = content.rindex(b"PK\x01\x02") + 16
    content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        open_source(path)
