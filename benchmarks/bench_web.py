"""The workbench in the browser: what each page costs the server, and many people for a while.

CPU is that of the server's process, told by the system. GAMEKEEPER_WEB_SECONDS says for how long many
people work at once, 600 seconds by default.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

from benchmarks.bench_environment import large_environment
from benchmarks.measure import Row
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.web.wire import id_of

__all__ = ["rows"]

_FORMS, _VARIABLES = 10_000, 200
_READERS, _EDITORS = 50, 5
_WHERE = "sector = 'sector 3' and year >= 2010 and has 'Variable 003'"
_TICKS = os.sysconf("SC_CLK_TCK")


class _Browser:
    """A connection that is kept, and a cookie."""

    def __init__(self, port: int, cookie: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookie = cookie
        self.tag = ""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        headers = {"Cookie": self.cookie, "Accept-Encoding": "gzip"}
        if path == "/api/forms" and self.tag:
            headers["If-None-Match"] = self.tag
        content = None
        if body is not None:
            content = json.dumps(body)
            headers["Content-Type"] = "application/json"
        self._connection.request(method, path, content, headers)
        told = self._connection.getresponse()
        if set_cookie := told.headers.get("set-cookie"):
            self.cookie = set_cookie.partition(";")[0]
        if path == "/api/forms":
            self.tag = told.headers.get("etag", "")
        return told.status, told.read()


class _Running:
    """A server in a process of its own."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "gamekeeper", "serve", str(store), "--port", "0"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        address = None
        while address is None and self.process.poll() is None:
            line = self.process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:(\d+)(/start\S+)", line)
        assert address is not None, "the server did not start"
        self.port, start = int(address[1]), address[2]
        Thread(target=self.process.stdout.read, daemon=True).start()
        browser = _Browser(self.port)
        browser.ask("GET", start)
        self.cookie = browser.cookie

    def browser(self) -> _Browser:
        return _Browser(self.port, self.cookie)

    @property
    def cpu(self) -> float:
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / _TICKS

    @property
    def megabytes(self) -> float:
        told = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", told)
        return int(found[1]) / 1e3 if found else 0.0


def rows() -> Iterator[Row]:
    """Measure the pages one by one, then many people at once."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "large.gk"
        EnvironmentStore.create(
            store, large_environment(_FORMS, _VARIABLES, 1), who="bench"
        ).close()
        running = _Running(store)
        try:
            yield from _pages(running)
            yield from _crowd(running, float(os.environ.get("GAMEKEEPER_WEB_SECONDS", "600")))
        finally:
            running.process.terminate()
            running.process.wait(30)


def _pages(running: _Running) -> Iterator[Row]:
    browser = running.browser()
    form, variable = id_of("Form 00007"), id_of("Variable 003")
    question = {"target": "Target"}
    of_variable = [f"/api/variables/{variable}{part}" for part in ("", "/graph", "/harmonizations")]
    aim = "0.15 CPU s"
    pages: dict[str, tuple[str, list[str]]] = {
        "overview": (aim, ["/api/session", "/api/environment", "/api/jobs"]),
        "forms, first time for a revision": (aim, ["/api/session", "/api/forms"]),
        "forms, by somebody else": (aim, ["/api/session", "/api/forms"]),
        "query": (aim, [f"/api/forms/found?where={quote(_WHERE)}"]),
        "form": (aim, [f"/api/forms/{form}", "/api/variables"]),
        "variables": (aim, ["/api/variables"]),
        "variable, first time": (aim, of_variable),
        "variable": (aim, of_variable),
        "groups": (aim, ["/api/groups"]),
        "scenarios": (aim, ["/api/scenarios"]),
        "history": (aim, ["/api/history"]),
    }
    for name, (aim, paths) in pages.items():
        asking = running.browser() if name.endswith("else") else browser
        asked: list[tuple[str, str, Any]] = [("GET", path, None) for path in paths]
        yield _row(running, f"page: {name}", lambda b=asking, a=asked: _ask(b, a), aim)
    for name, path, aim in (
        ("first time", "/api/analysis", "0.2 CPU s"),
        ("again", "/api/analysis", "0.2 CPU s"),
        ("keys of several variables", "/api/analysis/together", ""),
    ):
        yield _row(
            running,
            f"analysis, 20 variables, all prevalences, {name}",
            lambda path=path: _ask(browser, [("POST", path, question)]),
            aim,
        )
    edit = {"edit": "set-metadata", "form": "Form 00001", "values": {"year": 2001}}
    _ask(browser, [("POST", "/api/edits", {"edits": [edit]})])
    n_edits = 20

    def edited() -> int:
        size = 0
        for number in range(n_edits):
            one = {**edit, "values": {"year": 2002 + number}}
            size += _ask(browser, [("POST", "/api/edits", {"edits": [one]})])
        return size

    row = _row(running, "an edit of metadata, one of 20", edited, "0.1 CPU s")
    yield Row(row.name, row.output, row.wall / n_edits, row.cpu / n_edits, row.peak_mb, row.aim)
    edit = {"edit": "ask-variable", "form": "Form 00001", "variable": "Variable 150", "labels": []}
    forms = iter(range(100, 100 + n_edits))

    def asked_too() -> int:
        return sum(
            _ask(browser, [("POST", "/api/edits", {"edits": [{**edit, "form": f"Form {n:05d}"}]})])
            for n in forms
        )

    row = _row(running, "an edit of a question, one of 20", asked_too, "0.1 CPU s")
    yield Row(row.name, row.output, row.wall / n_edits, row.cpu / n_edits, row.peak_mb, row.aim)
    split = {
        "edit": "split-category",
        "variable": "Variable 001",
        "category": "Variable 001 00",
        "into": ["a", "b"],
    }
    yield _row(
        running,
        "preview of a split",
        lambda: _ask(browser, [("POST", "/api/edits/preview", {"edits": [split]})]),
        "",
    )
    yield _row(
        running,
        "page: forms, after an edit",
        lambda: _ask(browser, [("GET", "/api/forms", None)]),
        "0.15 CPU s",
    )


def _ask(browser: _Browser, asked: list[tuple[str, str, Any]]) -> int:
    size = 0
    for method, path, body in asked:
        status, content = browser.ask(method, path, body)
        assert status in (200, 201, 304), (path, status, content[:500])
        size += len(content)
    return size


def _row(running: _Running, name: str, work: Callable[[], int], aim: str) -> Row:
    wall, cpu = time.perf_counter(), running.cpu
    size = work()
    return Row(name, size, time.perf_counter() - wall, running.cpu - cpu, running.megabytes, aim)


def _crowd(running: _Running, seconds: float) -> Iterator[Row]:
    """Let many read and some edit; nobody may get an error."""
    end = time.monotonic() + seconds
    waits: dict[str, list[float]] = {"read": [], "edit": []}
    errors: list[str] = []

    def reader(number: int) -> None:
        browser = running.browser()
        pages = [
            "/api/environment",
            "/api/forms",
            f"/api/forms/{id_of(f'Form {number:05d}')}",
            f"/api/variables/{id_of(f'Variable {number % _VARIABLES:03d}')}",
            f"/api/forms/found?where={quote(_WHERE)}",
        ]
        turn = number
        while time.monotonic() < end:
            _timed("read", browser, "GET", pages[turn % len(pages)])
            turn += 1
            time.sleep(2)

    def editor(number: int) -> None:
        browser = running.browser()
        turn = 0
        while time.monotonic() < end:
            edit = {"edit": "set-metadata", "form": f"Form {number:05d}", "values": {"year": turn}}
            body = {"edits": [edit], "key": f"{number}-{turn}"}
            _timed("edit", browser, "POST", "/api/edits", body)
            turn += 1
            time.sleep(5)

    def _timed(kind: str, browser: _Browser, method: str, path: str, body: Any = None) -> None:
        began = time.perf_counter()
        try:
            status, content = browser.ask(method, path, body)
            if status not in (200, 304):
                errors.append(f"{path} {status} {content[:200]!r}")
        except (OSError, http.client.HTTPException) as error:
            errors.append(f"{path} {type(error).__name__}")
        waits[kind].append(time.perf_counter() - began)

    wall, cpu = time.perf_counter(), running.cpu
    threads = [Thread(target=reader, args=(n,)) for n in range(_READERS)]
    threads += [Thread(target=editor, args=(n,)) for n in range(_EDITORS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall, cpu = time.perf_counter() - wall, running.cpu - cpu
    name = f"{_READERS} readers, {_EDITORS} editors, {seconds:g} s; errors: {len(errors)}"
    n_all = sum(map(len, waits.values()))
    yield Row(name, n_all, wall, cpu, running.megabytes, "no error")
    for error in errors[:5]:
        yield Row(f"  {error}", 0, 0, 0, 0)
    for kind, found in waits.items():
        ordered = sorted(found)
        for share in (50, 95):
            wait = ordered[min(len(ordered) - 1, len(ordered) * share // 100)]
            yield Row(f"  a {kind}, p{share}", len(ordered), wait, 0, 0)
