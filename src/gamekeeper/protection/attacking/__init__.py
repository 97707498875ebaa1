"""A protected file attacked again: who can be whom, which rows are linked, how it was masked."""
