"""Jobs: run in processes of their own, told of, cancelled, interrupted, run again, deleted."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gamekeeper.errors import InputError, Reason
from gamekeeper.files import PRIVATE_MARK
from gamekeeper.web import job_work as kinds
from gamekeeper.web import jobs as module
from gamekeeper.web import people as session_times
from gamekeeper.web.job_work import run
from gamekeeper.web.jobs import ENDINGS, Jobs, State, allowed_files, allowed_path, start_of
from gamekeeper.web.people import Role
from gamekeeper.web.service import Server
from gamekeeper.web.wire import Refused
from tests.web.conftest import CANARY, signed_in

FILE = {"folder": "files", "name": "people.csv"}
LOOK = {"kind": "look", "file": FILE}
ASKED = {"file_asked": FILE}


def sleeping(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, code: str = "time.sleep(120)"
) -> list[subprocess.Popen[bytes]]:
    """Let jobs be processes that only wait; return them as they are started."""
    made: list[subprocess.Popen[bytes]] = []

    def started(asked: str) -> subprocess.Popen[bytes]:
        told = "import sys, time, signal; " + code
        made.append(subprocess.Popen([sys.executable, "-c", told], start_new_session=True))
        return made[-1]

    monkeypatch.setattr(jobs, "_started", started)
    return made


def until(jobs: Jobs, job: str, *states: State) -> None:
    for _ in range(600):
        jobs.advance()
        if jobs.job(job).state in states:
            return
        time.sleep(0.05)
    pytest.fail(f"the job is {jobs.job(job).state}")


def not_started(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_begin", lambda asked: None)


@pytest.fixture(autouse=True)
def same_mask() -> Iterator[None]:
    """Whoever runs a job here, and not in a process of its own, changes what files others make."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


def worked(server: Server, monkeypatch: pytest.MonkeyPatch, job: str) -> Path:
    """Do the work of a job here, and return its folder."""
    own = server.jobs.folder(job)
    own.mkdir()
    monkeypatch.chdir(own)
    run(server.database.path, job)
    return own


@pytest.fixture
def jobs(server: Server) -> Jobs:
    return server.jobs


def test_a_look_at_a_file_in_a_process_of_its_own(client: TestClient) -> None:
    told = client.post("/api/jobs", json=LOOK)
    assert told.status_code == 202
    job = told.json()["id"]
    for _ in range(600):
        now = client.get(f"/api/jobs/{job}").json()
        if now["state"] not in ("waiting", "running"):
            break
        time.sleep(0.1)
    assert (now["state"], now["error"]) == ("done", None)
    found = client.get(f"/api/jobs/{job}/result").json()
    assert [row["column"] for row in found["document"]["rows"]] == ["age", "sex", "region"]
    assert CANARY not in json.dumps(found)
    assert client.delete(f"/api/jobs/{job}").status_code == 204
    assert client.get(f"/api/jobs/{job}").status_code == 404


def test_an_assessment_is_the_one_of_the_command_line(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    from typer.testing import CliRunner

    from gamekeeper.cli.app import app

    not_started(server.jobs, monkeypatch)
    asked = {"kind": "assess", "file": FILE, "keys": ["age", "sex", "region"], "policy": "hdx"}
    job = client.post("/api/jobs", json=asked).json()["id"]
    own = worked(server, monkeypatch, job)
    assert server.jobs.job(job).state is State.DONE
    found = client.get(f"/api/jobs/{job}/result").json()
    printed = CliRunner().invoke(
        app,
        f"assess {folder / 'people.csv'} -k age -k sex -k region --policy hdx --top 20"
        " --format json",
    )
    document = json.loads(printed.stdout)
    records = document.pop("rows")
    for each in (document, found["document"]):
        each["provenance"].pop("seconds")
        each.pop("rows", None)
    assert found["document"] == document
    table = client.get(f"/api/jobs/{job}/tables/records?limit=1000&sort=record&descending=false")
    page = table.json()
    assert [dict(zip(page["columns"], row, strict=True)) for row in page["rows"]] == records
    why = client.get(f"/api/jobs/{job}/tables/why", params={"record": 61}).json()
    assert why["total"] >= 1
    report = client.get(f"/api/jobs/{job}/files/report.html")
    assert report.headers["content-disposition"].startswith("attachment")
    assert (own / "records.parquet").stat().st_mode & 0o077 == 0


def test_a_look_under_a_scenario_asks_what_an_assessment_would_guess(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    question = {"target": "Census", "strict": False}
    client.post("/api/scenarios", json={"name": "Broker", "question": question})
    rows = [f"{1 + n % 4},England" for n in range(12)]
    (folder / "coded.csv").write_text("\n".join(["years,place of residence", *rows, "4,Oz"]))
    not_started(server.jobs, monkeypatch)
    file = {"folder": "files", "name": "coded.csv"}
    columns = {"Age": "years", "Place/of residence": "place of residence"}

    def looked(**more: Any) -> tuple[dict[str, Any], str]:
        asked = {"kind": "look", "file": file, "scenario": "Broker", "columns": columns, **more}
        job = client.post("/api/jobs", json=asked).json()["id"]
        worked(server, monkeypatch, job)
        assert server.jobs.job(job).state is State.DONE, server.jobs.job(job).error
        return client.get(f"/api/jobs/{job}/tables/unmapped").json(), job

    page, job = looked()
    assert page["columns"] == ["variable", "value", "label", "records", "as a number", "category"]
    assert [row[:2] for row in page["rows"]] == [
        ["Age", "1"], ["Age", "2"], ["Age", "3"], ["Age", "4"], ["Place/of residence", "Oz"],
    ]  # fmt: skip
    assert {row[4] for row in page["rows"]} == {"0-15", ""}
    # What everybody may see of it has counts, and no value.
    told = json.dumps(client.get(f"/api/jobs/{job}/result").json())
    assert "4 small whole numbers in 13 records" in told
    assert "Oz" not in told
    page, _ = looked(numbers=["Age"])
    assert [row[:2] for row in page["rows"]] == [["Place/of residence", "Oz"]]


@pytest.mark.slow
def test_readers_get_no_single_records(
    outside: TestClient, team: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(team.jobs, monkeypatch)
    signed_in(outside, Role.EDITOR)
    asked = {"kind": "assess", "file": FILE, "keys": ["age", "region"], "values": {"a": {"b": "c"}}}
    job = outside.post("/api/jobs", json={**asked, "values": {}}).json()["id"]
    worked(team, monkeypatch, job)
    assert team.jobs.job(job).error is None
    signed_in(outside, Role.READER)
    told = outside.get(f"/api/jobs/{job}/result")
    assert told.status_code == 200
    assert not told.json()["with_records"]
    assert CANARY not in told.text
    assert not {"why", "categories"} & told.json()["document"]["parts"].keys()
    signed_in(outside, Role.EDITOR)
    assert CANARY in outside.get(f"/api/jobs/{job}/result").text


@pytest.mark.slow
def test_values_that_fit_no_category_are_told_to_editors_alone(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "homes.csv").write_text(
        "Age,Place/of residence\n10,England\n20,Wales\n30,Wales\n40," + CANARY + "\n"
    )
    client.post(
        "/api/scenarios", json={"name": "S", "question": {"target": "Census", "strict": False}}
    )
    not_started(server.jobs, monkeypatch)
    file = {"folder": "files", "name": "homes.csv"}
    asked: dict[str, Any] = {"kind": "assess", "file": file, "scenario": "S"}

    def ran() -> str:
        job = client.post("/api/jobs", json=asked).json()["id"]
        worked(server, monkeypatch, job)
        return job

    job = ran()
    told = client.get(f"/api/jobs/{job}")
    assert (told.json()["state"], told.json()["error"]["code"]) == ("failed", "unmapped-values")
    assert CANARY not in told.text
    page = client.get(f"/api/jobs/{job}/tables/unmapped").json()
    assert CANARY in [cell for row in page["rows"] for cell in row]
    asked["values"] = {"Place/of residence": {CANARY: "Elsewhere"}}
    assert client.get(f"/api/jobs/{ran()}").json()["state"] == "done"


@pytest.mark.parametrize(
    "name",
    [
        "../forms.gk",
        "../../etc/passwd",
        "/etc/passwd",
        "a\0.csv",
        "",
        ".",
        "link.csv",
        "x" * 9_000,
        "inside/../../forms.gk",
        "secret.bin",
        "pipe.csv",
        "folder.csv",
    ],
)
def test_only_files_in_the_folders_are_read(
    client: TestClient, folder: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "secret.bin").write_text("a")
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    told = client.post("/api/jobs", json={**LOOK, "file": {"folder": "files", "name": name}})
    assert (told.status_code, told.json()["code"]) == (404, "not-found")
    listed = client.get("/api/files").json()["folders"]
    assert [file["name"] for file in listed[0]["files"]] == ["people.csv"]
    other = client.post("/api/jobs", json={**LOOK, "file": {"folder": "other", "name": "a.csv"}})
    assert other.status_code == 404


def test_a_policy_is_no_path(client: TestClient) -> None:
    asked = {"kind": "assess", "file": FILE, "keys": ["age"], "policy": "/etc/passwd"}
    assert client.post("/api/jobs", json=asked).json()["code"] == "unknown-name"


def test_a_job_that_is_cancelled_stops_where_it_tells_progress(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(server.jobs, monkeypatch)
    job = client.post("/api/jobs", json=LOOK).json()["id"]
    told: list[int] = []

    def work(request: object, folder: Path, progress: Any) -> None:
        for done in range(10):
            told.append(done)
            if done == 3:
                client.post(f"/api/jobs/{job}/cancel")
            progress(done, done)

    run(server.database.path, job, {"look": work})
    assert told == [0, 1, 2, 3]
    assert server.jobs.job(job).state is State.CANCELLED


def test_a_job_that_does_not_listen_is_stopped_by_signals(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TERM_AFTER", 0.0)
    monkeypatch.setattr(module, "_KILL_AFTER", 0.3)
    ready = server.settings.state / "ready"
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    deaf += f" open({str(ready)!r}, 'w').close(); time.sleep(120)"
    running = sleeping(server.jobs, monkeypatch, deaf)
    job = server.jobs.submit("look", ASKED, "ana").id
    while not ready.exists():
        time.sleep(0.05)
    server.jobs.cancel(job)
    until(server.jobs, job, State.CANCELLED)
    assert running[0].wait(10) == -9


def test_a_job_outlives_its_server_and_is_found_by_the_next(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = sleeping(server.jobs, monkeypatch)
    job = server.jobs.submit("look", ASKED, "ana").id
    following = Server(server.settings, say=lambda _: None)
    following.jobs.advance()
    assert following.jobs.job(job).state is State.RUNNING
    monkeypatch.setattr(module, "_TERM_AFTER", 0.0)
    following.jobs.cancel(job)
    until(following.jobs, job, State.CANCELLED)
    assert running[0].wait(10) == -15


def test_an_interrupted_job_can_be_run_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = sleeping(server.jobs, monkeypatch)
    job = server.jobs.submit("look", {**ASKED, "seed": 7}, "ana").id
    running[0].kill()
    running[0].wait(10)
    server.jobs.advance()
    assert server.jobs.job(job).state is State.INTERRUPTED
    not_started(server.jobs, monkeypatch)
    again = server.jobs.run_again(job, "bo")
    assert (again.request, again.who) == ({**ASKED, "seed": 7}, "bo")


def test_a_number_that_another_process_has_now_is_not_the_job(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(server.jobs, monkeypatch)
    job = server.jobs.submit("look", ASKED, "ana").id
    with server.database.at_work() as connection:
        connection.execute("UPDATE job SET pid = ?, started = '1'", (os.getpid(),))
    server.jobs.advance()
    assert server.jobs.job(job).state is State.INTERRUPTED
    assert start_of(os.getpid()) is not None
    assert start_of(2**22 + 1) is None


def test_at_most_two_run_at_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    running = sleeping(server.jobs, monkeypatch)
    made = [server.jobs.submit("look", ASKED, "ana").id for _ in range(3)]
    assert [server.jobs.job(job).state for job in made] == ["running", "running", "waiting"]
    assert server.jobs.cancel(made[2]).state is State.CANCELLED
    for child in running:
        child.kill()
        child.wait(10)


def test_results_are_deleted_after_a_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    not_started(server.jobs, monkeypatch)
    job = server.jobs.submit("look", ASKED, "ana").id
    folder = server.jobs.folder(job)
    folder.mkdir()
    with server.database.at_work() as connection:
        connection.execute(
            "UPDATE job SET state = 'done', changed = ?", (time.time() - 15 * 86400,)
        )
    server.jobs.advance()
    assert not folder.exists()
    assert server.jobs.all() == []


def test_what_fails_is_told_in_our_words(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    not_started(server.jobs, monkeypatch)

    def refused(*_: object) -> None:
        raise InputError(Reason.BAD_OPTION, "It was asked.", "It cannot be.", "Leave it.")

    def broken(*_: object) -> None:
        raise KeyError(CANARY)

    for work, code in ((refused, "bad-option"), (broken, "our-fault")):
        job = server.jobs.submit("look", ASKED, "ana").id
        run(server.database.path, job, {"look": work})
        found = server.jobs.job(job)
        assert found.state is State.FAILED
        assert found.error is not None
        assert found.error["code"] == code
        assert CANARY not in json.dumps(found.error)


def test_a_folder_that_cannot_be_written_fails_the_job(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(asked: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(server.jobs, "_started", full)
    told = client.post("/api/jobs", json=LOOK).json()
    assert (told["state"], told["error"]["code"]) == ("failed", "disk-full")


def test_a_full_disk_stops_what_writes_and_nothing_else(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gamekeeper.web.settings import Database

    done = server.jobs.submit("look", ASKED, "ana").id
    connect = Database._connect

    def full(self: Database):
        connection = connect(self)
        # As large as it is, and no larger: what SQLite says of a disk that is full.
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(Database, "_connect", full)
    monkeypatch.setattr(session_times, "_SEEN_EVERY", -1.0)
    for _ in range(3):
        told = client.post("/api/jobs", json={**LOOK, "scenario": "s" * 9_000})
        assert (told.status_code, told.json()["code"]) == (507, "not-writable")
    # Whoever reads, and whoever edits the environment, goes on.
    assert client.get("/api/forms").status_code == 200
    assert client.get(f"/api/jobs/{done}").status_code == 200
    added = {"edits": [{"edit": "add-form", "name": "While it is full"}]}
    assert client.post("/api/edits", json=added).status_code == 200
    monkeypatch.setattr(Database, "_connect", connect)
    assert client.post("/api/jobs", json=LOOK).status_code == 202


def test_a_job_that_cannot_write_what_it_found_says_so(
    server: Server, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(server.jobs, monkeypatch)
    monkeypatch.chdir(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, CANARY)

    monkeypatch.setattr("gamekeeper.files.put_in_place", full)
    asked = {**ASKED, "file": str(folder / "people.csv")}
    job = server.jobs.submit("look", asked, "ana").id
    run(server.database.path, job)
    found = server.jobs.job(job)
    assert found.state is State.FAILED
    assert found.error is not None
    assert found.error["code"] == "disk-full"
    assert CANARY not in json.dumps(found.error)


def test_every_kind_that_can_be_asked_for_can_be_run() -> None:
    assert set(kinds.KINDS) == {"look", "assess"}


def test_readers_learn_nothing_of_values_from_what_editors_asked(
    outside: TestClient, team: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(team.jobs, monkeypatch)
    signed_in(outside, Role.EDITOR)
    asked = {
        "kind": "assess",
        "file": FILE,
        "keys": ["age", "region"],
        "strata": "region",
        "values": {"region": {CANARY: "x"}},
        "recodes": [f"region=Rare: {CANARY} | r1"],
        "fraction": f"{CANARY}=2%",
        "reading": {"missing_values": [CANARY]},
    }
    job = outside.post("/api/jobs", json=asked).json()["id"]

    def quotes(*_: object) -> None:
        raise InputError(Reason.BAD_OPTION, f"Asked for {CANARY}.", CANARY, CANARY)

    run(team.database.path, job, {"assess": quotes})
    assert CANARY in json.dumps(team.jobs.job(job).error)
    assert outside.get("/api/jobs").text.count(CANARY) == 7
    signed_in(outside, Role.READER)
    for path in ("/api/jobs", f"/api/jobs/{job}"):
        told = outside.get(path)
        assert CANARY not in told.text
        shown = told.json().get("jobs", [told.json()])[0]
        assert shown["error"]["code"] == "bad-option"
        assert (shown["request"]["keys"], shown["request"]["strata"]) == (
            ["age", "region"],
            "region",
        )
        assert not {"values", "recodes", "fraction", "missing_values"} & shown["request"].keys()


@pytest.mark.slow
def test_readers_learn_that_a_variable_was_recoded_and_not_by_which_rule(
    outside: TestClient, team: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_started(team.jobs, monkeypatch)
    signed_in(outside, Role.EDITOR)
    asked = {
        "kind": "assess",
        "file": FILE,
        "keys": ["age", "region"],
        "recodes": [f"region=Rare: {CANARY} | r1; Other: r0 | r2"],
        "reading": {"missing_values": ["91"]},
    }
    job = outside.post("/api/jobs", json=asked).json()["id"]
    worked(team, monkeypatch, job)
    assert team.jobs.job(job).error is None
    assert f"Rare: {CANARY} | r1" in outside.get(f"/api/jobs/{job}/result").text
    signed_in(outside, Role.READER)
    told = outside.get(f"/api/jobs/{job}/result")
    assert "'region': 4 categories become 2." in told.text
    assert CANARY not in told.text
    assert "Rare" not in told.text


def test_a_job_is_run_again_only_while_its_file_may_be_read(
    client: TestClient, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = sleeping(server.jobs, monkeypatch, "sys.exit()")
    job = client.post("/api/jobs", json=LOOK).json()["id"]
    running[0].wait(10)
    server.jobs.advance()
    assert client.post(f"/api/jobs/{job}/again").status_code == 202
    (folder / "people.csv").rename(folder / "people.bin")
    assert client.post(f"/api/jobs/{job}/again").status_code == 404
    for child in running:
        child.wait(10)


def private_things(folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put into a folder, under names of files of people, what is not for anybody to read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gamekeeper.store.study import Study

    store = server.settings.store
    assert isinstance(store, Path)
    # A store, its backup and a study, under other names; the state of another server; of an older one.
    for name in ("store.csv", "store.csv.backup", "backup.txt"):
        shutil.copy(store, folder / name)
    Study.create(folder / "study.gkp", {"keys": ["age"]})
    (folder / "study.gkp").rename(folder / "study.tsv")
    other = Server(replace(server.settings, state=folder / "other"), say=lambda _: None)
    (folder / "other" / "jobs" / "a" / "b").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1]}), folder / "other" / "jobs" / "a" / "records.parquet")
    (folder / "other" / "jobs" / "a" / "b" / "unmapped.csv").write_text("a\n1\n")
    with other.scratch() as scratch:
        (folder / "other" / f"{scratch.name}.csv").write_text("a\n1\n")
    shutil.copytree(folder / "other", folder / "older")
    for mark in (folder / "older").rglob(PRIVATE_MARK):
        mark.unlink()
    # What a job found, copied to another place under another name.
    monkeypatch.chdir(folder)
    kinds.assess(
        {"file": str(folder / "people.csv"), "keys": ["age", "region"], "seed": 0},
        folder,
        lambda *_: None,
    )
    (folder / "records.parquet").rename(folder / "nice.parquet")
    # An environment as a folder.
    (folder / "environment").mkdir()
    (folder / "environment" / "environment.json").write_text('{"format": "gamekeeper environment"}')
    (folder / "environment" / "codes.csv").write_text("a\n1\n")
    pq.write_table(pa.table({"a": [1]}), folder / "fine.parquet")
    (folder / "deep").mkdir()
    # The database of something else makes nothing private.
    with sqlite3.connect(folder / "deep" / "server.db") as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()
    (folder / "deep" / "fine.csv").write_text("a\n1\n")


@pytest.mark.slow
def test_what_is_private_is_neither_listed_nor_opened_wherever_it_lies(
    client: TestClient, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private_things(folder, server, monkeypatch)
    listed = client.get("/api/files").json()["folders"]
    fine = ["deep/fine.csv", "fine.parquet", "people.csv"]
    assert [file["name"] for file in listed[0]["files"]] == fine
    n_private = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.suffix in ENDINGS and name not in fine:
            n_private += 1
            asked = {**LOOK, "file": {"folder": "files", "name": name}}
            assert client.post("/api/jobs", json=asked).status_code == 404, name
    assert n_private == 12


def test_a_folder_within_a_private_one_has_nothing_to_read(server: Server) -> None:
    inner = server.settings.state / "jobs" / "a"
    inner.mkdir()
    (inner / "values.csv").write_text("a\n1\n")
    assert allowed_files({"inner": inner, "state": server.settings.state}) == []
    with pytest.raises(Refused):
        allowed_path({"inner": inner}, "inner", "values.csv")
