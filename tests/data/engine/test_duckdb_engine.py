"""Engines: DuckDB within its memory, its faults in our words, and engines that cannot be opened."""

from __future__ import annotations

import gc
import os
import signal
import socket
import stat
import sys
import threading

import pyarrow as pa
import pytest

from gamekeeper.data.engine.duckdb_engine import (
    DuckDBEngine,
    default_engine,
    open_engine,
    run_discreetly,
)
from gamekeeper.data.engine.spark.calls import parse_address
from gamekeeper.data.engine.spark.session import is_reachable
from gamekeeper.errors import InputError, LimitError, Reason, StoreError
from tests.spark import MissingError, require_spark


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


ADDRESSES = ["spark://127.0.0.1:{}", "sc://127.0.0.1:{}/;token=canary"]


def refused(text, scratch):
    with pytest.raises(InputError) as caught:
        open_engine(text, scratch=scratch)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert list(scratch.iterdir()) == []
    return caught.value


@pytest.fixture
def closed():
    """A port that nobody else is given, and at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("text", ["mainframe:canary", "spark://canary:canary@host", "", "Spark"])
def test_a_name_of_no_engine_is_refused_with_those_there_are(tmp_path, text):
    error = refused(text, tmp_path)
    assert error.reason is Reason.BAD_OPTION
    for known in ("duckdb", "spark://host:7077", "sc://host:15002", "local-cluster"):
        assert known in str(error)


@pytest.mark.parametrize("text", [*ADDRESSES, "local-cluster", "local[2]"])
def test_without_spark_it_is_said_how_to_install_it(tmp_path, monkeypatch, closed, text):
    monkeypatch.setitem(sys.modules, "pyspark", None)  # as where it is not installed
    error = refused(text.format(closed), tmp_path)
    assert error.reason is Reason.MISSING_PACKAGE
    assert "pip install 'gamekeeper[spark]'" in str(error)


@pytest.mark.parametrize("text", ADDRESSES)
def test_nobody_is_found_at_a_closed_port(closed, text):
    address = parse_address(text.format(closed))
    assert address is not None
    assert not is_reachable(address)


def test_one_of_several_masters_is_enough(closed):
    with socket.create_server(("127.0.0.1", 0)) as there:
        places = f"127.0.0.1:{closed},127.0.0.1:{there.getsockname()[1]}"
        address = parse_address(f"spark://{places}")
        assert address is not None
        assert is_reachable(address)


@pytest.mark.parametrize("text", ADDRESSES)
def test_a_closed_port_is_refused_before_spark_is_started(tmp_path, closed, text):
    try:
        require_spark()
    except MissingError as missing:
        pytest.skip(f"A port at which nobody listens is left out: {missing}")
    from pyspark import SparkContext

    before = SparkContext._gateway  # another test may have started it
    error = refused(text.format(closed), tmp_path)
    assert error.reason is Reason.UNREACHABLE
    assert f"127.0.0.1:{closed}" in str(error)
    assert SparkContext._gateway is before


@pytest.mark.parametrize("text", ["spark://127.0.0.1:{}", "local-cluster", "local[2]"])
def test_without_java_it_is_said_what_is_needed(tmp_path, monkeypatch, closed, text):
    try:
        require_spark()
    except MissingError as missing:
        pytest.skip(f"A machine without Java is left out: {missing}")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    error = refused(text.format(closed), scratch)
    assert error.reason is Reason.MISSING_PACKAGE
    assert "Java 17" in str(error)
    assert str(tmp_path) not in str(error)
