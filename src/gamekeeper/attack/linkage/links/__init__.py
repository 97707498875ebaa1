"""Links as results: what they say, held against the truth, drawn. Begin with `file_links`."""
