"""The documentation site: built offline by `make docs`, from pages that the tests run."""

import importlib.metadata

project = "Gamekeeper"
author = "The Gamekeeper authors"
project_copyright = "the Gamekeeper authors, Apache-2.0"
version = release = importlib.metadata.version("gamekeeper")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["schema"]

# Python's own types and those of frames are not linked: nothing is fetched while building.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Gamekeeper"
html_static_path = ["_static"]
html_css_files = ["width.css"]
html_copy_source = False
html_show_sphinx = False
suppress_warnings = ["misc.highlighting_failure", "myst.header", "ref.python"]


def _within(app, name, source):
    """Let links to the page on the rooms of the house, which lies above this folder, lead to its copy."""
    source[0] = source[0].replace("](../../ARCHITECTURE.md", "](../explain/architecture.md")


def _bars_as_they_are(app, what, name, obj, options, lines):
    """Numbers of elements are written |E|, which the markup would take for something else."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app):
    app.connect("source-read", _within)
    app.connect("autodoc-process-docstring", _bars_as_they_are)
