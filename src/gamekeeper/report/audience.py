"""Who may read a report."""

from __future__ import annotations

from enum import StrEnum


class Audience(StrEnum):
    """The data holder's own people, or anybody."""

    INTERNAL = "internal"
    EXTERNAL = "external"
