"""Decomposable graphs and junction trees (thesis, chapters 5 and 7).

Begin with `graphs`, the plain way, then `junction_tree`; `dynamic_junction_tree` is the published one.
"""
