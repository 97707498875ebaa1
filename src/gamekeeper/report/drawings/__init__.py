"""Graphs, curves and figures, drawn. Begin with `graphs`."""
