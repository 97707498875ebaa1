"""Record linkage as an attack: a masked file against the original, and files with nothing in common."""
