"""Pure algorithms: integers, arrays and sets in, values out; a definition and a paper per file."""
