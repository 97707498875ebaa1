"""Ctrl-C while the command is still being loaded, whatever is imported at that moment."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from gamekeeper.cli.loading import loading

CANCELLED = 130
# Presses Ctrl-C when the nth module is looked for after the door was opened.
PROGRAM = """
import signal, sys
from gamekeeper.__main__ import main

class Keyboard:
    n_asked = 0

    def find_spec(self, *asked):
        self.n_asked += 1
        if self.n_asked == {nth}:
            signal.raise_signal(signal.SIGINT)
        return None

sys.meta_path.insert(0, Keyboard())
sys.argv = ["gamekeeper", "risk", "dis", "missing.csv"]
main()
"""


def door(nth: int, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM.format(nth=nth)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("nth", [1, 5, 25, 60, 120, 240, 480])
def test_it_ends_quietly_whatever_is_being_imported(nth):
    done = door(nth)
    # From some number on a command is at work, and says that it stops.
    said = [] if nth <= 25 else done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (CANCELLED, "")
    assert done.stderr == "".join(f"{line}\n" for line in said[:1])
    assert all(line.startswith("gamekeeper: cancelled.") for line in said)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are inherited on POSIX alone")
def test_it_ends_where_what_started_it_ignores_ctrl_c():
    done = door(2, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert (done.returncode, done.stdout, done.stderr) == (CANCELLED, "", "")


@pytest.mark.parametrize("error", [ImportError, SystemError])
def test_an_error_that_began_with_ctrl_c_is_no_fault_of_ours(run, monkeypatch, error):
    def stopped(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise error("a compiled module could not be imported")  # noqa: B904

    monkeypatch.setattr("gamekeeper.cli.app.app", stopped)
    told = run("--version")
    assert (told.exit_code, told.out) == (CANCELLED, "")
    assert told.err.startswith("gamekeeper: cancelled.")


def test_what_ctrl_c_did_before_it_does_afterwards():
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with loading():
            assert signal.getsignal(signal.SIGINT) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_no_signals():
    seen = []

    def work():
        with loading():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "gamekeeper", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gamekeeper ")
    command[-1] = "--help"
    asked = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "-m gamekeeper" in asked.stdout
