"""Worked examples of protection: every kind with its check."""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.cases import Check

__all__ = ["PROTECT"]

PROTECT: Mapping[str, Check] = {}
