"""Worked examples of linkage: every kind with its check."""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.cases import Check
from tests.reference.linkage_assignment import LINKAGE_ASSIGNMENT
from tests.reference.linkage_structure import LINKAGE_STRUCTURE

__all__ = ["LINKAGE"]

LINKAGE: Mapping[str, Check] = {**LINKAGE_ASSIGNMENT, **LINKAGE_STRUCTURE}
