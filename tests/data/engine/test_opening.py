"""Engines that cannot be opened: one clear error, nothing left, and no password in it."""

from __future__ import annotations

import socket
import sys

import pytest

from gamekeeper.data.engine.opening import open_engine
from gamekeeper.data.engine.spark.address import parse_address
from gamekeeper.data.engine.spark.session import is_reachable
from gamekeeper.errors import InputError, Reason
from tests.spark import MissingError, require_spark

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
