"""Spark as it is in an office: a master and two workers, a server of Spark Connect, and what befalls them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.spark import ROOT, MissingError, require_spark
from tests.spark_cluster import Cluster, can_be, can_mount, mounted, running_cluster

pytestmark = pytest.mark.slow

CANARY = "canary-7f3a"
NOBODY = 65534


@pytest.fixture(scope="module", autouse=True)
def _installed():
    try:
        require_spark()
    except MissingError as missing:
        pytest.skip(f"A cluster of Spark is left out: {missing}")


@pytest.fixture
def cluster(tmp_path):
    with running_cluster(tmp_path) as running:
        yield running


@pytest.fixture
def server(tmp_path):
    """A server of Spark Connect alone."""
    made = Cluster(tmp_path)
    yield made
    made.stop()


def begun(name, address, folder, before=(), wait="150"):
    """Begin a scenario in a process of its own; a machine that is busy with tests is slow."""
    words = [sys.executable, "-m", "tests.data.engine.spark.scenarios", name, address, str(folder)]
    return subprocess.Popen(
        [*before, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GAMEKEEPER_ENGINE_WAIT": wait},
    )


def ended(process):
    """Return what came of a scenario. Nothing else may be printed, least of all what Spark says."""
    out, noise = process.communicate(timeout=500)
    assert noise == ""
    assert process.returncode == 0
    assert CANARY not in out
    return json.loads(out)


def done(name, address, folder, before=()):
    return ended(begun(name, address, folder, before))


def test_a_cluster_gives_the_same(cluster, tmp_path):
    assert done("same", cluster.address, tmp_path) == {
        "different": [],
        "uniques": True,
        "left": [],
    }
    assert done("canaries", cluster.address, tmp_path) == {"n": 25, "shown": []}
    logs = [path.read_text() for path in tmp_path.glob("work-*/*/*/stderr")]
    assert len(logs) >= 4
    assert not [log for log in logs if CANARY in log]


def test_a_cluster_without_workers_is_one_clear_error(tmp_path):
    with running_cluster(tmp_path, workers=0) as alone:
        found = ended(begun("refused", alone.address, tmp_path, wait="10"))
    assert found["reason"] == "unreachable"
    # There is no worker; on a busy machine not even a session of ours within that time.
    assert "within 10 seconds" in found["text"]
    assert "GAMEKEEPER_ENGINE_WAIT" in found["text"]
    assert found["left"] == []


def test_workers_that_are_killed_change_nothing(cluster, tmp_path):
    found = done("killed", cluster.address, tmp_path)
    assert found["killed"][0] == 2
    assert len(found["killed"]) == 2
    assert found["killed"][1] >= 1
    assert found["processes"] >= 2
    assert found["sums"]
    assert found["counted"] == {"k": 1009, "n": 4_000**2}


def test_a_cluster_that_is_lost_is_one_clear_error(cluster, tmp_path):
    process = begun("lost", cluster.address, tmp_path)
    until = time.monotonic() + 200
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.2)
    time.sleep(3)
    cluster.stop()
    found = ended(process)
    assert found["reason"] == "unreachable"
    assert str(tmp_path) not in found["text"]


def test_a_worker_that_does_not_see_the_scratch_folder_is_found_out(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    if not can_mount(scratch):
        pytest.skip(
            "A scratch folder that a worker does not see is left out: nothing can be mounted"
        )
    made = Cluster(tmp_path)
    try:
        made.start(blind=scratch)
        found = done("refused", made.address, scratch)
    finally:
        made.stop()
    assert found["reason"] in ("not-writable", "not-readable")
    assert "GAMEKEEPER_SCRATCH" in found["text"]
    assert str(tmp_path) not in found["text"]
    assert not found["context"]
    assert found["left"] == []


def test_workers_of_another_account_need_a_folder_of_their_group():
    if not can_be(NOBODY):
        pytest.skip("A worker of another account is left out: no process can be its own")
    # Not in the folder of a test, which is ours alone.
    with tempfile.TemporaryDirectory(prefix="gamekeeper-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        scratch = folder / "scratch"
        scratch.mkdir()
        made = Cluster(folder)
        try:
            made.start(workers=1, account=NOBODY)
            found = done("refused", made.address, scratch)
            assert found["reason"] == "not-writable"
            assert "chmod g+ws" in found["text"]
            assert name not in found["text"]
            assert found["left"] == []
            os.chown(scratch, 0, NOBODY)
            scratch.chmod(0o2770)
            assert done("written", made.address, scratch) == {"n": 9, "mode": "2770", "left": []}
        finally:
            made.stop()


def test_spark_connect_gives_the_same(server, tmp_path):
    address = server.start_connect()
    assert done("same", address, tmp_path) == {"different": [], "uniques": True, "left": []}
    assert done("canaries", address, tmp_path) == {"n": 25, "shown": []}
    assert done("pressed", address, tmp_path) == {"interrupted": True, "active": 1, "answered": 1}


def test_workers_with_other_versions_are_refused(server, tmp_path):
    other = tmp_path / "other" / "numba-0.1.2.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numba\nVersion: 0.1.2\n")
    path = os.pathsep.join([str(other.parent), str(ROOT)])
    address = server.start_connect({"PYTHONPATH": path})
    found = done("refused", address, tmp_path)
    assert found["reason"] == "missing-package"
    assert "numba: 0.1.2 there" in found["text"]


def test_workers_without_our_python_are_refused(server, tmp_path):
    address = server.start_connect({"PYSPARK_PYTHON": str(tmp_path / "no-such-python")})
    found = done("refused", address, tmp_path)
    assert found["reason"] == "missing-package"
    assert "PYSPARK_PYTHON" in found["text"]
    assert str(tmp_path) not in found["text"]


def test_a_full_disk_is_one_clear_error(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    if not can_mount(scratch):
        pytest.skip("A full disk is left out: nothing can be mounted")
    found = done("refused", "local[2]", scratch, mounted(scratch, "3m"))
    assert found["reason"] == "disk-full"
    assert str(tmp_path) not in found["text"]
    assert found["left"] == []


def test_ctrl_c_ends_what_runs(tmp_path):
    assert done("pressed", "local[2]", tmp_path) == {
        "interrupted": True,
        "active": 0,
        "answered": 1,
    }


def test_a_cluster_of_this_machine_is_started_and_ended(tmp_path):
    from pyspark.find_spark_home import _find_spark_home

    logs = Path(_find_spark_home(), "work")
    before = sorted(logs.glob("*"))
    assert done("same", "local-cluster", tmp_path) == {
        "different": [],
        "uniques": True,
        "left": [],
    }
    assert logs.exists()  # otherwise they are elsewhere
    assert sorted(logs.glob("*")) == before


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_somebody_else_at_the_port_is_one_clear_error(tmp_path, scheme):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = done("refused", f"{scheme}://127.0.0.1:{silent.getsockname()[1]}", tmp_path)
    assert found["reason"] == "unreachable"
    assert "does not answer as" in found["text"]
    assert found["left"] == []
