"""Options, written once: requests have them, and library functions take them. Begin with `requests`."""

from gamekeeper.options.functions import require_known, require_made, takes
from gamekeeper.options.requests import (
    Field,
    Option,
    build,
    given,
    option_text,
    options_of,
    part_of,
    paths,
    require_valid,
    texts_of,
    written,
)

__all__ = [
    "Field",
    "Option",
    "build",
    "given",
    "option_text",
    "options_of",
    "part_of",
    "paths",
    "require_known",
    "require_made",
    "require_valid",
    "takes",
    "texts_of",
    "written",
]
