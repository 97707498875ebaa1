"""From proposed questions to edits: which variable, which categories, how sure. Begin with `proposal`."""
