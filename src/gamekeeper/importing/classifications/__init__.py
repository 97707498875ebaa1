"""Classifications of others as partition graphs: one reader per format. Begin with `registry`."""
