"""Where the nodes and edges of a drawn graph go. Begin with `layered`."""
