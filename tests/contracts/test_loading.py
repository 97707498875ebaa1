"""How much of the house a command passes through, and how much of it is loaded for that."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Runs a command, and tells in which files of ours a function ran. Class bodies and what is written
# in one expression are no functions; what other packages run of ours has no file.
WALK = """
import contextlib, io, json, sys, threading
from gamekeeper.cli.app import main
passed = set()
def seen(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and not code.co_name.startswith("<"):
        _, ours, place = code.co_filename.partition("/gamekeeper/")
        if ours:
            passed.add(place)
threading.setprofile(seen)
sys.setprofile(seen)
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
sys.setprofile(None)
loaded = [name for name in sys.modules if name.split(".")[0] == "gamekeeper"]
print(json.dumps([sorted(passed), sorted(loaded)]))
"""

PEOPLE = "age,sex,region\n30,f,north\n30,f,north\n41,m,north\n41,f,south\n52,m,south\n"


def walk(*command: str | Path) -> tuple[set[str], set[str]]:
    """Return the files of ours that a command passes, and the modules of ours that it loads."""
    ran = subprocess.run(
        [sys.executable, "-c", WALK, *map(str, command)],
        capture_output=True,
        text=True,
        check=True,
    )
    passed, loaded = json.loads(ran.stdout)
    return set(passed), set(loaded)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


@pytest.mark.slow
def test_a_search_for_uniques_passes_few_rooms(people: Path):
    passed, loaded = walk("risk", "suda", people, "--keys", "age,sex,region")
    assert {"cli/risk.py", "workbench/risk.py", "algorithms/uniques/search.py"} <= passed
    assert len(passed) <= 45
    assert len(loaded) <= 130


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["keys", "dis", "measures"])
def test_an_attack_on_columns_loads_nothing_of_stage_one_and_no_page(people: Path, attack: str):
    passed, loaded = walk("risk", attack, people, "--keys", "age,sex,region", "--fraction", "10%")
    assert "workbench/risk.py" in passed
    rooms = {".".join(name.split(".")[1:2]) for name in loaded}
    assert rooms.isdisjoint({"mapping", "report", "protection", "importing", "web"})
