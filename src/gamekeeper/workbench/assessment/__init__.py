"""The assessment of a file in one call. Begin with `running`."""
