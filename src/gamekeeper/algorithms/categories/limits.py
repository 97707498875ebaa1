"""How much is searched at most, unless somebody asks for more."""

from __future__ import annotations

from typing import Final

MAX_NODES: Final = 100_000
"""The number of nodes above which a harmonization graph is refused or searched in part."""
