"""A real server in a process of its own, and a real browser with the strict policy on.

Left out, with the reason, where Chromium or the built pages are not there. Whatever a page writes to
its console, a violation of the policy among it, fails the test.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gamekeeper.web.app import STATIC

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = ""
    if CHROMIUM is None:
        reason = "no chromium (apt-get install chromium)"
    elif not (STATIC / "index.html").is_file():
        reason = "the pages are not built (make pages)"
    if reason:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


class Running:
    """A server that was started, and can be killed and started again."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.port = 0
        # What the browser keeps of whoever is signed in: the start address serves once.
        self.state: dict = {}
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "gamekeeper", "serve", *self.arguments]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(r"http://\S+", line):
                self.address = found.group(0)
                self.port = int(found.group(0).split(":")[2].split("/")[0])
                return
        raise AssertionError(said)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()

    def kill_all(self) -> None:
        """Kill the server and the processes of its jobs, as a machine that is switched off does."""
        for status in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = status.read_bytes().split(b"\0")
            except OSError:
                continue
            if b"gamekeeper.web.job_work" in words and str(self.folder).encode() in b" ".join(
                words
            ):
                os.kill(int(status.parent.name), signal.SIGKILL)
        self.kill()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        self._close()


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's store and file, made once."""
    from gamekeeper.workbench.demo_place import demo_workplace

    folder = tmp_path_factory.mktemp("demo")
    demo_workplace(folder / "demo-workbench")
    return folder


@pytest.fixture(scope="session")
def serving(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The demo served from a copy. A start is dear: all tests share it, under names of their own."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(demo_folder, folder, dirs_exist_ok=True)
    running = Running(folder, "--demo")
    yield running
    running.stop()


# Its loop of events runs as long as it does, and tests of other rooms want one of their own.
@pytest.fixture(scope="package")
def chromium() -> Iterator[object]:
    from playwright.sync_api import expect, sync_playwright

    # A machine may be busy with other tests: what comes late has come.
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def is_complaint(said) -> bool:
    """Return whether something on a console is a fault of ours."""
    # A refusal is an answer with a status, which the browser itself notes.
    refused = said.text.startswith(
        "Failed to load resource: the server responded with a status of 4"
    )
    return said.type in ("error", "warning") and not refused


@pytest.fixture
def complaints() -> list[str]:
    """What pages wrote to their consoles; a test may take out what it expects."""
    return []


@pytest.fixture
def opened(chromium, serving: Running, complaints: list[str]) -> Iterator[Callable]:
    """Open a page for somebody who is signed in; several may look at the same server."""
    contexts = []
    state = serving.state

    def visit(address: str = "/", **options):
        context = chromium.new_context(
            viewport={"width": 1280, "height": 800}, storage_state=state or None, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: complaints.append(said.text) if is_complaint(said) else None,
        )
        if not state:
            page.goto(serving.address)
            page.get_by_role("heading", name="Norland").wait_for()
            state.update(context.storage_state())
        if address != "/" or page.url == "about:blank":
            page.goto(serving.base + address)
        page.locator("h1").first.wait_for()
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []
