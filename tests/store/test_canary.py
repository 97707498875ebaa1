"""Whatever file is given by mistake, nothing of what is in it may come out."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from gamekeeper.errors import GamekeeperError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.folder import read_environment, read_named_graph, write_environment

CANARY = "CANARY-7341"
LONG = "7341" * 4
WRONG: dict[str, bytes] = {
    "csv": f"id,name,age\n1,{CANARY},30\n".encode(),
    "csv in quotes": f'"{CANARY}","30"\n'.encode(),
    "text": CANARY.encode(),
    "latin-1": f"{CANARY} Müller".encode("latin-1"),
    "utf-16": CANARY.encode("utf-16"),
    "a string": f'"{CANARY}"'.encode(),
    "records": json.dumps([{"name": CANARY, "age": 30}]).encode(),
    "one record": json.dumps({CANARY: CANARY, "name": 7341}).encode(),
    "columns": json.dumps({"name": [CANARY], "age": [30]}).encode(),
    "repeated keys": f'{{"{CANARY}": 1, "{CANARY}": 2}}'.encode(),
    "repeated keys below": f'{{"variables": {{"{CANARY}": 1, "{CANARY}": 2}}}}'.encode(),
    "cut off": f'{{"name": "{CANARY}'.encode(),
    "a bad escape": f'{{"name": "\\{CANARY}"}}'.encode(),
    "a line break in a string": f'{{"name": "\n{CANARY}"}}'.encode(),
    "a surrogate": f'{{"name": "{CANARY}\\ud800"}}'.encode(),
    "too long a number": f'["{CANARY}", {LONG * 500}]'.encode(),
    "no number": f'["{CANARY}", NaN]'.encode(),
    "too deep": f'["{CANARY}", {"[" * 100_000}'.encode(),
    "a newer version": f'{{"format": "gamekeeper environment", "version": 2, "name": "{CANARY}"}}'
    "".encode(),
    "a wrong version": f'{{"format": "gamekeeper environment", "version": "{CANARY}"}}'.encode(),
    "another format": f'{{"format": "{CANARY}", "version": 1, "name": "{CANARY}"}}'.encode(),
    "a scale": json.dumps({"name": CANARY, "scale": CANARY, CANARY: 1}).encode(),
    "a scale as a field": json.dumps({"scale": "nominal", "nominal": CANARY}).encode(),
    "numbers for labels": json.dumps({"name": "x", "variables": {CANARY: [1, 2]}}).encode(),
    "numbers for categories": json.dumps(
        {
            "name": "x",
            "scale": "nominal",
            "categories": {CANARY: [1]},
            "codes": {CANARY: [[CANARY]]},
        }
    ).encode(),
    "nested metadata": json.dumps(
        {"name": "x", "metadata": {CANARY: {CANARY: CANARY}}, "variables": {}}
    ).encode(),
    "style and range": json.dumps(
        {"name": "x", "scale": "interval", "bands": [1], "style": CANARY, "from": CANARY}
    ).encode(),
    "nodes": json.dumps({"nodes": [[CANARY]], "edges": [[CANARY], [CANARY] * 3, CANARY]}).encode(),
    "names of forms": json.dumps({"name": "x", "forms": {CANARY: CANARY}}).encode(),
}
PLACES = ["environment.json", "variables/age.json", "forms/bank.json", "groups/trade.json"]


def shows_nothing(work: Callable[[], object], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(GamekeeperError) as caught:
        work()
    error = caught.value
    said = [
        str(error),
        repr(error),
        repr(error.problems),
        caplog.text,
        "".join(traceback.format_exception(error)),
        repr(error.__cause__),
        repr(error.__context__),
        *(str(problem) for problem in error.problems),
    ]
    assert CANARY not in "".join(said)
    assert LONG not in "".join(said)
    assert error.problems or "It is a file" in str(error)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("place", PLACES)
def test_reading_shows_nothing(
    folder: Path, caplog: pytest.LogCaptureFixture, place: str, kind: str
) -> None:
    (folder / place).write_bytes(WRONG[kind])
    shows_nothing(lambda: read_environment(folder), caplog)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("place", PLACES)
def test_writing_shows_nothing(
    environment: Environment, folder: Path, caplog: pytest.LogCaptureFixture, place: str, kind: str
) -> None:
    (folder / place).write_bytes(WRONG[kind])
    shows_nothing(lambda: write_environment(environment, folder), caplog)
    assert (folder / place).read_bytes() == WRONG[kind]


@pytest.mark.parametrize("kind", WRONG)
def test_a_single_file_shows_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(WRONG[kind])
    shows_nothing(lambda: read_environment(path), caplog)
    shows_nothing(lambda: read_named_graph(path), caplog)


def test_the_canary_would_be_heard(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A well-formed form may be named, so here the search must find what it looks for."""
    form = {"name": CANARY, "variables": {"none": []}}
    (folder / "forms/bank.json").write_text(json.dumps(form))
    with pytest.raises(AssertionError):
        shows_nothing(lambda: read_environment(folder), caplog)
