"""The one gate to whatever counts, and DuckDB behind it. Begin with `gate`."""
