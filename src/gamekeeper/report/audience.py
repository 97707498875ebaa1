"""Who may read a report."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from gamekeeper.results import Provenance, package_version


class Audience(StrEnum):
    """The data holder's own people, or anybody."""

    INTERNAL = "internal"
    EXTERNAL = "external"


def for_outsiders(provenance: Provenance) -> Provenance:
    """Return a provenance without parameters, seed and fingerprint."""
    return replace(
        provenance,
        variant="",
        parameters={},
        seed=None,
        fingerprint="",
        version=package_version(),
        seconds=0.0,
    )
