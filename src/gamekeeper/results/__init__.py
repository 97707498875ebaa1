"""What every result can do: summarise itself, become a table, be shown, say where it comes from."""

from gamekeeper.results.html import table_html
from gamekeeper.results.result import Progress, Provenance, Result, package_version

__all__ = ["Progress", "Provenance", "Result", "package_version", "table_html"]
