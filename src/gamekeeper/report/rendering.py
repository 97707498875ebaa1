"""Templates filled with text from anywhere: escaped, and free of what XML does not allow."""

from __future__ import annotations

import re
from functools import cache

import jinja2
from markupsafe import Markup

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    r"""Return a text with a replacement character for each that XML does not allow.

    Examples
    --------
    >>> visible("a\0b")
    'a�b'
    """
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def render(template: str, **values: object) -> str:
    """Fill one of the templates of this room; every text is escaped unless it is `Markup`."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("gamekeeper.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalized(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
