"""How large a search for minimal sample uniques may be before it is refused."""

from __future__ import annotations

MAX_MSUS = 250_000_000
"""Largest list of MSUs, of 2 to 8 bytes each, that is made without being asked for explicitly."""

MAX_SECONDS = 900.0
"""Longest search, in seconds of processor time, that is begun without being asked for."""
