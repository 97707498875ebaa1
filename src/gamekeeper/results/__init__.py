"""What every result can do: summarise itself, become a table, be shown, say where it comes from."""

from gamekeeper.results.arrow import arrow_table
from gamekeeper.results.html import table_html
from gamekeeper.results.listing import EVERYTHING, Cell, Listing, Page, make_listing
from gamekeeper.results.result import Progress, Provenance, Result, package_version

__all__ = [
    "EVERYTHING",
    "Cell",
    "Listing",
    "Page",
    "Progress",
    "Provenance",
    "Result",
    "arrow_table",
    "make_listing",
    "package_version",
    "table_html",
]
