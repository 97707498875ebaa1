"""Which pairs of records are compared, and which of them are linked. Begin with `linking`."""
