"""Ctrl-C: where the work is between two steps, and at once if pressed again."""

from __future__ import annotations

import signal
import threading

import pytest

from gamekeeper.cli.show import progress_bar
from gamekeeper.cli.stopping import stopped_by_hand
from gamekeeper.errors import Cancelled
from gamekeeper.workbench import linkage
from tests.given.microdata import PEOPLE, write


@pytest.fixture(autouse=True)
def _as_at_a_keyboard():
    # Started in the background of a script, Python itself ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_is_a_wish_and_the_second_an_order():
    told, asked = [], []
    before = signal.getsignal(signal.SIGINT)
    with stopped_by_hand(
        lambda done, total: told.append((done, total)), "Counting", lambda: asked.append(1)
    ) as tell:
        # Nothing was told yet, so nothing may ever be.
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        tell(0, 2)
        signal.raise_signal(signal.SIGINT)
        assert asked == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(Cancelled, match="Counting"):
            tell(1, 2)
    assert told == [(0, 2)]
    assert signal.getsignal(signal.SIGINT) is before


def test_work_that_ends_first_is_done():
    with progress_bar("Counting") as tell:
        tell(0, 1)
        signal.raise_signal(signal.SIGINT)
    # The handler of before is back.
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_other_threads_have_no_signals():
    told = []

    def work():
        with stopped_by_hand(lambda done, total: told.append(done), "Counting", list) as tell:
            tell(1, 1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told == [1]


def test_a_command_ends_with_130_and_writes_nothing(run, tmp_path, monkeypatch):
    people = write(tmp_path, "people.csv", PEOPLE)
    linked = linkage.link_files

    def interrupted(*arguments, progress, **options):
        progress(0, 2)
        signal.raise_signal(signal.SIGINT)
        return linked(*arguments, progress=progress, **options)

    monkeypatch.setattr(linkage, "link_files", interrupted)
    output = tmp_path / "links.csv"
    told = run("link", "files", people, people, "--output", output)
    assert told.exit_code == 130, told.err
    assert "cancelled" in told.err
    assert not output.exists()


def test_it_is_answered_whatever_is_imported_at_the_time(monkeypatch, capsys):
    def half_imported():
        raise ImportError("cannot import name 'Console' from partially initialized module")

    with progress_bar("Counting") as tell:
        tell(0, 2)
        monkeypatch.setattr("gamekeeper.cli.show._errors", half_imported)
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Cancelled):
            tell(1, 2)
    assert "Stopping at the next step" in capsys.readouterr().err
