"""The table for reading, which is made in `gamekeeper.mapping.key_table`."""

from __future__ import annotations

from gamekeeper.mapping.key_table import key_table

__all__ = ["key_table"]
