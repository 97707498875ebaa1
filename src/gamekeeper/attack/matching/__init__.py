"""Matching strategies: how likely a match is right, and what it costs to find. Begin with `strategies`."""
