"""Worked examples of protection: every kind with its check."""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.cases import Check
from tests.reference.protect_perturbation import PROTECT_PERTURBATION
from tests.reference.protect_utility import PROTECT_UTILITY

__all__ = ["PROTECT"]

PROTECT: Mapping[str, Check] = {**PROTECT_PERTURBATION, **PROTECT_UTILITY}
