"""The corridor from a file to its key table: sources, codes, the one engine gate, counts."""
