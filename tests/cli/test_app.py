"""Ctrl-C while a command is loaded, whatever is imported, and at work, between two steps."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading

import pytest

from gamekeeper.cli.app import PARTS, load, loading, stopped_by_hand
from gamekeeper.cli.commands import progress_bar
from gamekeeper.errors import Cancelled
from gamekeeper.workbench import linkage
from gamekeeper.workbench.environment import mapping
from tests.given.microdata import PEOPLE, write

CANARY = "CANARY-7341"


def test_version(run):
    assert run("--version").out.startswith("gamekeeper ")


@pytest.mark.parametrize("name", PARTS)
def test_what_help_says_of_a_part_is_what_the_part_says(name):
    words = load(name).help
    assert words.split("\n\n")[0].replace("\n", " ") == PARTS[name][1]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_nothing_that_attacks_or_stores_is_imported_at_the_door(arguments):
    heavy = ("numpy", "pyarrow", "sqlalchemy", "pydantic", "duckdb", "numba", "scipy", "jinja2")
    code = (
        f"import sys; sys.argv = ['gamekeeper', *{arguments}]\n"
        "from gamekeeper.cli.app import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"print([n for n in {heavy} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("typed", "offered"), [("ri", ["risk"]), ("risk ke", ["keys"])])
def test_the_tab_key_offers_parts_and_their_commands(typed, offered):
    told = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['gamekeeper']; from gamekeeper.cli.app import main; main()"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "_GAMEKEEPER_COMPLETE": "complete_bash",
             "COMP_WORDS": f"gamekeeper {typed}", "COMP_CWORD": str(len(typed.split()))},
    )  # fmt: skip
    assert told.stdout.split() == offered


def test_no_arguments_show_help(run):
    told = run()
    assert "map" in told.out + told.err


def test_an_unexpected_fault_shows_no_value(run, folder, monkeypatch, caplog):
    def broken(*_args: object, **_options: object) -> None:
        secret = CANARY
        raise KeyError(secret)

    monkeypatch.setattr(mapping, "check", broken)
    with caplog.at_level(logging.DEBUG):
        told = run("check", folder)
    assert told.exit_code == 1
    assert "fault of ours (KeyError in check_command" in told.err
    assert CANARY not in told.out + told.err + caplog.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("people.csv", f"name,age\n{CANARY},34\n"),
        ("people.json", f'[{{"name": "{CANARY}", "{CANARY}": 3}}]'),
        ("broken.json", f'{{"name": "{CANARY}" "age": }}'),
        ("latin.json", f'{{"name": "{CANARY} \xe9"}}'),
        ("edges.json", f'{{"nodes": ["{CANARY}", 3], "edges": "{CANARY}"}}'),
    ],
)
@pytest.mark.parametrize("command", ["check", "graph", "map"])
def test_a_data_file_given_by_mistake_is_never_quoted(
    run, tmp_path, caplog, name, content, command
):
    file = tmp_path / name
    file.write_bytes(content.encode("latin-1"))
    extra = ("Census",) if command == "map" else ()
    with caplog.at_level(logging.DEBUG):
        told = run(command, file, *extra)
    assert told.exit_code == 2
    assert name in told.err
    assert CANARY not in told.out + told.err + caplog.text


def test_a_data_file_in_the_place_of_a_form_is_never_quoted(run, folder, caplog):
    (folder / "forms" / "people.json").write_text(
        f'{{"{CANARY}": 1, "rows": [["{CANARY}", 2]], "name": ["{CANARY}"]}}', encoding="utf-8"
    )
    with caplog.at_level(logging.DEBUG):
        told = run("check", folder)
    assert told.exit_code == 2
    assert "people.json" in told.err
    assert CANARY not in told.out + told.err + caplog.text


@pytest.mark.slow
def test_letters_that_the_output_cannot_show_are_replaced(folder):
    program = "from gamekeeper.cli.app import main; main()"
    told = subprocess.run(
        [sys.executable, "-c", program, "map", folder, "Census", "--no-strict"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert told.returncode == 0
    assert b"Census" in told.stdout


def test_all_problems_are_listed(run, folder):
    for number in range(60):
        (folder / "forms" / f"bad-{number:02d}.json").write_text("{", encoding="utf-8")
    told = run("check", folder)
    assert told.exit_code == 2
    assert all(f"bad-{number:02d}.json" in told.err for number in range(60))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (("look", "--format", "json"), 0),
        (("assess", "-k", "Age,Sex", "--policy", "k2"), 4),
    ],
)
def test_a_reader_that_has_gone_is_no_fault_and_meets_no_policy(tmp_path, asked, code):
    file = write(tmp_path, "people.csv", "Age,Sex\n1,f\n1,f\n2,m\n")
    reader, writer = os.pipe()
    os.close(reader)
    command, *options = asked
    done = subprocess.run(
        [sys.executable, "-m", "gamekeeper", command, str(file), *options],
        stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, "")


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


@pytest.mark.parametrize("nth", [1, 5, 25, 60, 120, 240, 360])
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


def test_work_in_other_threads_is_not_stopped_by_hand():
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
        monkeypatch.setattr("gamekeeper.cli.commands._errors", half_imported)
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Cancelled):
            tell(1, 2)
    assert "Stopping at the next step" in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_is_said_after_the_end_of_a_command_that_counts(tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("age,sex\n30,f\n30,f\n41,m\n")
    command = [sys.executable, "-m", "gamekeeper", "assess", people, "--keys", "age,sex"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Of 3 records" in done.stdout
