from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest

from gamekeeper.cli.app import PARTS, load
from gamekeeper.workbench.environment import mapping
from tests.given.microdata import write

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
