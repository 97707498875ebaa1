"""Worked examples of tables: every kind with its check."""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.cases import Check
from tests.reference.tables_bounds import tables_bounds
from tests.reference.tables_decomposable import tables_decomposable
from tests.reference.tables_protect_audit import (
    tables_protect_audit_percentages,
    tables_protect_audit_whole_against_real,
)
from tests.reference.tables_protect_rules import tables_protect_primary_rules
from tests.reference.tables_rounding import TABLES_ROUNDING
from tests.reference.tables_sap import TABLES_SAP
from tests.reference.tables_shuttle import tables_shuttle

__all__ = ["TABLES"]

TABLES: Mapping[str, Check] = {
    **TABLES_ROUNDING,
    **TABLES_SAP,
    "tables_bounds": tables_bounds,
    "tables_decomposable": tables_decomposable,
    "tables_protect_audit_percentages": tables_protect_audit_percentages,
    "tables_protect_audit_whole_against_real": tables_protect_audit_whole_against_real,
    "tables_protect_primary_rules": tables_protect_primary_rules,
    "tables_shuttle": tables_shuttle,
}
