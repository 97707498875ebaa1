"""How lists of wordings are written down in this room."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """Return the wordings of a text, between which bars stand."""
    return tuple(part.strip() for part in text.split("|"))
