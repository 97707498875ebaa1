"""A real cluster of Spark for tests: a master and workers on loopback, ended by their process ids."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.spark import ROOT, require_spark

_SECONDS = 120
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


class Cluster:
    """A cluster that runs: its master, its workers, and the server of Spark Connect if there is one."""

    def __init__(self, folder: Path) -> None:
        require_spark()
        self.folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port = _free_port()

    @property
    def address(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self, workers: int = 2, blind: Path | None = None, account: int = 0) -> None:
        """Start master and workers; the first worker does not see the folder `blind`, if any.

        Workers run under the account of a number, which is also that of its group; under ours if 0.
        """
        local = ["--host", "127.0.0.1", "--webui-port"]
        self._begin(
            "org.apache.spark.deploy.master.Master",
            [*local, str(_free_port()), "--port", str(self.port)],
        )
        wait_for_port(self.port)
        offered = ["--cores", "1", "--memory", "1g"]
        for number in range(workers):
            place = self.folder / f"work-{number}"
            place.mkdir()
            if account:
                os.chown(place, account, account)
            self._begin(
                "org.apache.spark.deploy.worker.Worker",
                [*local, str(_free_port()), *offered, "--work-dir", str(place), self.address],
                before=as_account(account) if account else mounted(None if number else blind),
            )

    def start_connect(self, environment: Mapping[str, str] | None = None) -> str:
        """Start a server of Spark Connect on one machine, and return its address."""
        port = _free_port()
        conf = {
            "spark.master": "local[2]",
            "spark.connect.grpc.binding.port": str(port),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }
        words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        self._begin(
            "org.apache.spark.deploy.SparkSubmit",
            ["--class", _CONNECT, *words, "spark-internal"],
            environment=environment,
        )
        wait_for_port(port)
        return f"sc://127.0.0.1:{port}"

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def _begin(
        self,
        main: str,
        words: Sequence[str],
        *,
        before: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*before, str(home / "bin" / "spark-class"), main, *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={
                    **os.environ,
                    "SPARK_HOME": str(home),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "SPARK_NO_DAEMONIZE": "1",
                    "SPARK_DAEMON_MEMORY": "600m",
                    "PYSPARK_PYTHON": sys.executable,
                    "PYTHONPATH": str(ROOT),
                    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                    **(environment or {}),
                },
            )  # fmt: skip
        self._processes.append(process)


def mounted(folder: Path | None, size: str = "") -> list[str]:
    """Return how to begin a command for which an empty disk lies on a folder, of some size."""
    if folder is None:
        return []
    options = f"-o size={size}" if size else ""
    return [
        "unshare",
        "-m",
        "sh",
        "-c",
        f'mount -t tmpfs {options} none "$0" && exec "$@"',
        str(folder),
    ]


def as_account(number: int) -> list[str]:
    """Return how to begin a command under another account and its group, which takes rights."""
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]


def can_be(account: int) -> bool:
    """Tell whether Spark can be started under another account."""
    import pyspark

    home = Path(pyspark.__file__).parent
    asked = [*as_account(account), "test", "-r", str(home / "bin" / "spark-class")]
    if os.name != "posix" or os.geteuid() or not shutil.which("setpriv"):
        return False
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def can_mount(folder: Path) -> bool:
    """Tell whether disks can be mounted for a process alone, which takes rights."""
    if not shutil.which("unshare"):
        return False
    return (
        subprocess.run([*mounted(folder), "true"], capture_output=True, check=False).returncode == 0
    )


def executors_of(folder: Path) -> list[int]:
    """Return the ids of the processes that do the work of the cluster of a folder."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes()
                place = (entry / "cwd").readlink()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in words and place.is_relative_to(folder):
                found.append(int(entry.name))
    return found


@contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Give a cluster, which ends afterwards."""
    cluster = Cluster(folder)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()


def wait_for_port(port: int) -> None:
    until = time.monotonic() + _SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
