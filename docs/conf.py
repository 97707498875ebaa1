"""The documentation site: built offline by `make docs`, from pages that the tests run."""

import importlib.metadata
import re
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_HOUSE = _ROOT / "ARCHITECTURE.md"
_DECISIONS = sorted(
    (_ROOT / "src" / "gamekeeper").rglob("DECISIONS.md"), key=lambda path: (len(path.parts), path)
)

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


def house_page(page):
    """Return a page with what stands beside the code, and with links that lead to pages of the site.

    ARCHITECTURE.md lies above this folder, and a DECISIONS.md in many a room of the package. A page that
    has one of these names in braces gets the text in its place.
    """
    if "{ARCHITECTURE.md}" in page:
        page = page.replace("{ARCHITECTURE.md}", _HOUSE.read_text(encoding="utf-8"))
    if "{DECISIONS.md}" in page:
        texts = (path.read_text(encoding="utf-8") for path in _DECISIONS)
        heading = re.compile(r"^(#+) (?:Decisions: )?(.)", re.MULTILINE)
        sections = [heading.sub(lambda one: f"#{one[1]} {one[2].upper()}", text) for text in texts]
        page = page.replace("{DECISIONS.md}", "\n".join(sections))
    page = re.sub(r"\]\(src/[\w/]*DECISIONS\.md\)", "](decisions.md)", page)
    page = re.sub(r"\]\((?:\.\./)*docs/", "](../", page)
    page = page.replace("[Contributing](CONTRIBUTING.md)", "`CONTRIBUTING.md`")
    return page.replace("](../../ARCHITECTURE.md", "](../explain/architecture.md")


def _about_the_house(app, name, source):
    if ".md}" in source[0]:
        for path in (_HOUSE, *_DECISIONS):
            app.env.note_dependency(str(path))
    source[0] = house_page(source[0])


def _bars_as_they_are(app, what, name, obj, options, lines):
    """Numbers of elements are written |E|, which the markup would take for something else."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app):
    app.connect("source-read", _about_the_house)
    app.connect("autodoc-process-docstring", _bars_as_they_are)
