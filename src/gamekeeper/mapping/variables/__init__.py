"""The variables of an environment: categories, what forms make of them, codes. Begin with `codes`."""
