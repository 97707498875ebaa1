"""Bounds of searches, in a place of their own so that they can be named without the searches."""

MAX_KEYS = 10_000
"""How many composite keys are looked at, unless told otherwise."""
