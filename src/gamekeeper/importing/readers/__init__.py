"""Readers of instruments: one per format, each from a file to proposed questions. Begin with `registry`."""
