from __future__ import annotations

import gc
import os
import signal
import stat
import sys
import threading

import pyarrow as pa
import pytest

from gamekeeper.data.engine.duckdb_engine import DuckDBEngine, default_engine
from gamekeeper.data.engine.duckdb_errors import run_discreetly
from gamekeeper.errors import InputError, LimitError, Reason, StoreError


@pytest.mark.parametrize(
    "options",
    [{"memory_limit": "4 potatoes"}, {"threads": 0}, {"memory_limit": "", "threads": -2}],
)
def test_options_that_duckdb_does_not_take_are_refused(tmp_path, options):
    with pytest.raises(InputError) as caught:
        DuckDBEngine(folder=tmp_path, **options)
    assert caught.value.reason is Reason.BAD_OPTION
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(StoreError) as caught:
        DuckDBEngine(folder=tmp_path / "nowhere")
    assert caught.value.reason is Reason.NOT_WRITABLE


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such rights there")
def test_only_the_owner_can_read_the_temporary_folder(tmp_path):
    with DuckDBEngine(folder=tmp_path):
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_does_not_fit_in_memory_goes_to_disk_and_is_removed(tmp_path):
    with DuckDBEngine(memory_limit="60MB", threads=1, folder=tmp_path) as engine:
        relation = engine.create("SELECT range AS record, hash(range) AS h FROM range(5000000)")
        assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) > 1e7
        total = engine.query(f"SELECT COUNT(*) AS n, MAX(record) AS top FROM {relation}")
        assert total.to_pylist() == [{"n": 5_000_000, "top": 4_999_999}]
    assert not list(tmp_path.iterdir())


def test_work_beyond_the_limit_is_an_error_that_says_what_to_raise(tmp_path):
    with DuckDBEngine(memory_limit="20MB", threads=1, folder=tmp_path) as engine:
        with pytest.raises(LimitError, match="memory_limit") as caught:
            engine.query("SELECT LIST(hash(range)) AS h FROM range(10000000)")
        assert caught.value.reason is Reason.TOO_LARGE
        assert engine.query("SELECT 1 AS one").num_rows == 1


@pytest.mark.slow
def test_progress_is_told_and_never_printed(capfd):
    told = []
    with DuckDBEngine(threads=1) as engine:
        relation = engine.create("SELECT hash(range) % 1000003 AS v0 FROM range(6000000)")
        engine.create(
            f"SELECT v0, COUNT(*) AS n FROM {relation} GROUP BY v0 ORDER BY n",
            progress=lambda done, whole: told.append((done, whole)),
        )
    assert told == sorted(told)
    assert told[-1][0] > 0
    assert {whole for _, whole in told} == {100}
    assert capfd.readouterr() == ("", "")


def test_an_engine_that_is_no_longer_used_cleans_up(tmp_path):
    engine = DuckDBEngine(folder=tmp_path)
    engine.create("SELECT 1 AS v0")
    del engine
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_the_shared_engine_is_one_and_is_made_anew_when_closed():
    first = default_engine()
    assert default_engine() is first
    first.close()
    second = default_engine()
    assert second is not first
    assert second.query("SELECT 1 AS one").num_rows == 1


def test_variables_of_the_caller_are_not_tables():
    frame = pa.table({"secret": [1]})
    with DuckDBEngine() as engine, pytest.raises(Exception, match="refused"):
        engine.query("SELECT * FROM frame")
    assert frame.num_rows == 1


def test_its_repr_tells_its_state():
    engine = DuckDBEngine()
    assert "closed" not in repr(engine)
    engine.close()
    assert repr(engine).endswith(", closed)")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_leaves_the_engine_of_its_parent_alone(tmp_path):
    with DuckDBEngine(folder=tmp_path) as engine:
        relation = engine.create("SELECT 1 AS v0")
        child = os.fork()
        if child == 0:
            closed = engine.is_closed
            engine.close()
            os._exit(0 if closed else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert list(tmp_path.iterdir())
        assert engine.query(f"SELECT v0 FROM {relation}").num_rows == 1


@pytest.mark.slow
def test_ctrl_c_within_a_statement_is_ctrl_c():
    # Started in the background of a script, Python itself ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
    endless = "SELECT count(*) FROM range(300000000) t(a) WHERE a % 7 = 3"

    def ask(engine: DuckDBEngine) -> None:
        # Not before: on a busy machine an engine may take longer to open than any wait.
        pressed.start()
        engine.query(endless)

    try:
        with DuckDBEngine() as engine, pytest.raises(KeyboardInterrupt):
            ask(engine)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_faults_of_the_machine_stay_what_they_are():
    def fail():
        raise RuntimeError("anything else")

    with pytest.raises(RuntimeError, match="anything else"):
        run_discreetly(fail, "Something was asked.")
