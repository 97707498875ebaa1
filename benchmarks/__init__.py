"""Measurements by size and by shape; run them with `make bench`."""
