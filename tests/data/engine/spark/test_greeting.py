"""Whoever is no cluster is found out before Spark is started; how long one may take to answer."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager

import pytest

from gamekeeper.data.engine.spark.calls import (
    WAIT_VARIABLE,
    parse_address,
    seconds_to_wait,
    speaks_spark,
)
from gamekeeper.data.engine.spark.session import check_reachable
from gamekeeper.errors import InputError, Reason

FAILED = struct.pack(">qbqi", 30, 2, 0, 0) + b"\0\0\0\5nobody"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"


@contextmanager
def listening(answer):
    """Give the port of somebody who answers so, and closes the connection; None is for silence."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            line, _ = server.accept()
            with line:
                line.recv(64)
                line.sendall(answer)

        if answer is not None:
            thread = threading.Thread(target=serve)
            thread.start()
        yield server.getsockname()[1]
        if answer is not None:
            thread.join()


@pytest.mark.parametrize(
    ("scheme", "answer", "expected"),
    [
        ("spark", FAILED, True), ("spark", None, False), ("spark", SETTINGS, False),
        ("spark", b"HTTP/1.1 400 Bad Request", False), ("spark", b"SSH-2.0", False),
        ("spark", b"", True), ("spark", b"\x15\x03\3\0\2\2\x46", True),
        ("sc", SETTINGS, True), ("sc", None, False), ("sc", b"", False), ("sc", FAILED, False),
        ("sc", b"HTTP/1.1 400 Bad Request", False),
    ],
)  # fmt: skip
def test_only_spark_answers_as_spark_does(scheme, answer, expected):
    with listening(answer) as port:
        assert speaks_spark(parse_address(f"{scheme}://127.0.0.1:{port}"), 0.2) is expected


def test_one_of_several_masters_is_enough_and_tls_is_not_asked():
    with listening(FAILED) as port, socket.create_server(("127.0.0.1", 0)) as silent:
        other = silent.getsockname()[1]
        two = parse_address(f"spark://127.0.0.1:{other},127.0.0.1:{port}")
        assert speaks_spark(two, 0.2)
        assert speaks_spark(parse_address(f"sc://127.0.0.1:{other}/;use_ssl=true"), 0.2)


def test_somebody_else_at_the_port_is_refused_before_anything_is_started():
    pytest.importorskip("pyspark")
    with listening(b"SSH-2.0-other\r\n") as port, pytest.raises(InputError) as caught:
        check_reachable(parse_address(f"spark://127.0.0.1:{port}"))
    assert caught.value.reason is Reason.UNREACHABLE
    assert "SSH" not in str(caught.value)


def test_a_slow_cluster_is_waited_for_as_long_as_one_says(monkeypatch):
    cluster, here = parse_address("spark://host"), parse_address("local-cluster")
    monkeypatch.delenv(WAIT_VARIABLE, raising=False)
    assert seconds_to_wait(cluster) < seconds_to_wait(here)
    monkeypatch.setenv(WAIT_VARIABLE, " 240 ")
    assert seconds_to_wait(cluster) == 240
    for wrong in ("0", "-3", "nan", "inf", "long"):
        monkeypatch.setenv(WAIT_VARIABLE, wrong)
        with pytest.raises(InputError, match=WAIT_VARIABLE):
            seconds_to_wait(cluster)
