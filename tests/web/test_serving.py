"""A server in a process of its own: started by the command, killed, stopped, listened to."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gamekeeper.store.database.environment_store import EnvironmentStore
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
def running(store: Path, cookie: str = "", port: int = 0, slow: bool = False) -> Iterator[Running]:
    code = "from gamekeeper.__main__ import main; main()"
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
