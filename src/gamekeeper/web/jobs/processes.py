"""Processes of jobs: whether one lives, known by its number and by when it was started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def start_of(pid: int) -> str | None:
    """Return when a process was started, in whatever words the system has; None if there is none.

    Numbers of processes are used again: only with this it is the same process.
    """
    stat = Path(f"/proc/{pid}/stat")
    try:
        # The name of the program, in brackets, may hold anything; the times come after it.
        told = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    return None if told[0] == "Z" else told[19]


def stop(pid: int, started: str | None, *, at_once: bool) -> None:
    """Ask a process and those that it started to end, or end them, if it is still the same."""
    if started is None or start_of(pid) != started:
        return
    # A job leads a session of its own, so that its number is that of its group.
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL if at_once else signal.SIGTERM)


def _start_by_ps(pid: int) -> str | None:
    ps = shutil.which("ps")
    if ps is None:
        return None
    asked = [ps, "-o", "lstart=", "-p", str(pid)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    return told.stdout.strip() or None
