"""Record linkage as an attack: a masked file against the original, files with nothing in common.

Begin with `files`, then `structure`; what both are made of is in the other files.
"""
