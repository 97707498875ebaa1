"""A server in a process of its own: started by the command, killed, stopped, listened to."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gamekeeper import files as asides
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.web.serving import HEAD_SECONDS
from tests.given.hostile import far_apart, repeated
from tests.web.conftest import edits


class Running:
    """A server, and a browser that is signed in to it."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        self.cookie = ""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            content = None if body is None else json.dumps(body)
            headers = {"Cookie": self.cookie, "Content-Type": "application/json"}
            connection.request(method, path, content, headers)
            told = connection.getresponse()
            if cookie := told.headers.get("set-cookie"):
                self.cookie = cookie.partition(";")[0]
            text = told.read()
            return told.status, json.loads(text) if text[:1] in (b"{", b"[") else text
        finally:
            connection.close()


@contextmanager
def running(
    store: Path, cookie: str = "", port: int = 0, slow: bool = False, sleepy: bool = False
) -> Iterator[Running]:
    code = "from gamekeeper.__main__ import main; main()"
    if sleepy:
        # It never comes to an end with what was sent.
        code = (
            "import time\n"
            "from gamekeeper.web.routes import edits\n"
            "edits.import_forms = lambda *_: time.sleep(600)\n"
        ) + code
    if slow:
        # Made, and on disk; the server dies before it can say so.
        code = (
            "import os, signal\n"
            "from gamekeeper.web.routes import edits\n"
            "edits._told = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        ) + code
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", str(store), "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        found = None
        while found is None:
            line = process.stdout.readline()
            assert line, "the server ended"
            found = re.search(r"The workbench is at http://127\.0\.0\.1:(\d+)(/start\S*)", line)
        made = Running(process, int(found[1]))
        made.cookie = cookie
        if not cookie:
            assert made.ask("GET", found[2])[0] == 303
        yield made
    finally:
        process.kill()
        process.wait(20)
        process.stdout.close()


@pytest.mark.slow
def test_nothing_is_lost_or_made_twice_when_the_server_is_killed(store: Path) -> None:
    asked = edits({"edit": "add-form", "name": "New"}, key="one-save")
    with running(store, slow=True) as first:
        with pytest.raises((http.client.HTTPException, OSError)):
            first.ask("POST", "/api/edits", asked)
        assert first.process.wait(20) == -signal.SIGKILL
        cookie, port = first.cookie, first.port
    with running(store, cookie, port) as second:
        # Whoever was signed in still is, and sends the same again.
        status, told = second.ask("POST", "/api/edits", asked)
        assert (status, told["revision"]) == (200, 2)
        assert second.ask("GET", "/api/environment")[1]["revision"] == 2
    with EnvironmentStore.open(store) as found:
        assert list(found.environment().forms).count("New") == 1
        found.check()


@pytest.mark.slow
def test_open_pages_learn_what_others_save_and_the_server_ends_when_asked(store: Path) -> None:
    from gamekeeper.mapping.edits import AddForm

    with running(store) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", "/api/events", headers={"Cookie": server.cookie})
        stream = connection.getresponse()
        assert stream.headers["content-type"].startswith("text/event-stream")
        heard: list[str] = []

        def listen() -> None:
            while line := stream.readline():
                heard.append(line.decode().strip())

        thread = Thread(target=listen)
        thread.start()
        server.ask("POST", "/api/edits", edits({"edit": "add-form", "name": "By a page"}))
        with EnvironmentStore.open(store) as other:
            other.apply([AddForm(name="By a command")], who="bo")
        for _ in range(200):
            if 'data: {"revision": 3}' in heard:
                break
            thread.join(0.1)
        assert "event: hello" in heard
        assert 'data: {"revision": 2}' in heard
        assert 'data: {"revision": 3}' in heard
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(20) == 0
        thread.join(10)
        assert not thread.is_alive()
        connection.close()
    with EnvironmentStore.open(store) as found:
        assert len(found.environment().forms) == 6


def test_an_address_that_others_reach_needs_accounts(store: Path) -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-m",
            "gamekeeper",
            "serve",
            str(store),
            "--host",
            "0.0.0.0",
            "--port",
            "0",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 2
    assert "account" in told.stderr


def half_a_request(port: int, address: str, said: bytes = b"GET /api/ses") -> socket.socket:
    made = socket.socket()
    made.bind((address, 0))
    made.connect(("127.0.0.1", port))
    made.sendall(said)
    return made


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="one address of this machine has to do elsewhere"
)
def test_half_requests_keep_nobody_out_and_do_not_stay(store: Path) -> None:
    half_a_body = (
        b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    with running(store) as server:
        # A connection that was used goes on, and half of its next request is no other case.
        kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        kept.request("GET", "/api/environment", headers={"Cookie": server.cookie})
        assert kept.getresponse().read()
        kept.sock.sendall(b"GET /api/en")
        many: list[socket.socket] = [kept.sock]
        began = time.monotonic()
        try:
            ways = (b"GET /api/ses", b"", half_a_body)
            many += [half_a_request(server.port, "127.0.0.1", ways[n % 3]) for n in range(450)]
            many += [half_a_request(server.port, f"127.0.0.{3 + n % 8}") for n in range(450)]
            # From the same address, and from others.
            assert server.ask("GET", "/api/environment")[0] == 200
            other = half_a_request(
                server.port,
                "127.0.0.2",
                f"GET /api/session HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode(),
            )
            other.settimeout(10)
            assert other.recv(12) == b"HTTP/1.1 200"
            other.close()
            assert time.monotonic() - began < HEAD_SECONDS
            heads = [one for number, one in enumerate(many) if number % 3 or number > 450]
            until = time.monotonic() + 3 * HEAD_SECONDS
            while not all(map(is_closed, heads)) and time.monotonic() < until:
                time.sleep(0.2)
            assert all(map(is_closed, heads))
        finally:
            for one in many:
                one.close()
        assert server.ask("GET", "/api/environment")[0] == 200


@pytest.mark.slow
def test_a_slow_request_is_answered_and_events_stay_open(store: Path) -> None:
    with running(store) as server:
        slow = half_a_request(server.port, "127.0.0.1", b"GET /api/session HTTP/1.1\r\nHost:")
        events = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        events.request("GET", "/api/events", headers={"Cookie": server.cookie})
        stream = events.getresponse()
        time.sleep(1.0)
        slow.sendall(f" 127.0.0.1:{server.port}\r\n\r\n".encode())
        slow.settimeout(10)
        assert slow.recv(12) == b"HTTP/1.1 200"
        time.sleep(HEAD_SECONDS + 1.0)
        server.ask("POST", "/api/edits", edits({"edit": "add-form", "name": "Late"}))
        for _ in range(200):
            if stream.readline().strip() == b'data: {"revision": 2}':
                break
        else:
            pytest.fail("the stream has ended")
        slow.close()
        events.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts address space")
def test_a_hostile_workbook_is_refused_and_the_server_lives(store: Path, tmp_path: Path) -> None:
    state = Path(f"{store}.server")
    octets = {"Content-Type": "application/octet-stream"}
    with running(store) as server:
        for make in (far_apart, lambda path: repeated(path.with_suffix(".ods"), 1_000, 16_384)):
            path = make(tmp_path / "far.xlsx")
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request(
                "POST",
                f"/api/imports?name={path.name}",
                path.read_bytes(),
                {"Cookie": server.cookie, **octets},
            )
            told = connection.getresponse()
            assert (told.status, json.loads(told.read())["code"]) == (422, "too-large")
            connection.close()
            assert server.ask("GET", "/api/environment")[0] == 200
        assert not list(state.glob("gamekeeper-*"))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are known by their numbers there")
def test_what_was_sent_to_a_server_that_was_cut_off_is_removed_by_the_next(store: Path) -> None:
    state = Path(f"{store}.server")
    with running(store) as first:
        uploaded = state / f"gamekeeper-aaaa-{asides._here()}-{first.process.pid}"
        uploaded.mkdir()
        (uploaded / "people.csv").write_text("a\n1\n")
        # Of a process that lives, and of an older version, just now and long ago.
        living = state / f"gamekeeper-bbbb-{asides._here()}-{os.getpid()}"
        new, old = state / "gamekeeper-cccc", state / "gamekeeper-dddd"
        for folder in (living, new, old):
            folder.mkdir()
        os.utime(old, (0, 0))
        first.process.kill()
        first.process.wait(20)
        assert uploaded.exists()
    with running(store):
        assert sorted(state.glob("gamekeeper-*")) == sorted([living, new])


@pytest.mark.slow
def test_a_file_that_is_read_when_the_server_is_killed_is_removed_by_the_next(store: Path) -> None:
    state = Path(f"{store}.server")
    octets = {"Content-Type": "application/octet-stream"}
    with running(store, sleepy=True) as first:
        connection = http.client.HTTPConnection("127.0.0.1", first.port, timeout=60)
        asked = ("POST", "/api/imports?name=a.csv", b"a\n", {"Cookie": first.cookie, **octets})
        connection.request(*asked)
        for _ in range(400):
            if list(state.glob("gamekeeper-*/a.csv")):
                break
            time.sleep(0.05)
        first.process.kill()
        first.process.wait(20)
        connection.close()
        assert list(state.glob("gamekeeper-*/a.csv"))
    with running(store):
        assert not list(state.glob("gamekeeper-*"))
