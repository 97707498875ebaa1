"""Who does blocks of work on this machine."""

from __future__ import annotations

from enum import StrEnum


class Pool(StrEnum):
    """Threads of this process, or processes of their own."""

    PROCESSES = "processes"
    THREADS = "threads"
