r"""Texts of instruments as plain words: no markup, no line breaks, no control characters.

Editors of forms save what people typed with HTML, entities and marks of direction. What is left
here may be a name in an environment. Letters of any script stay as they are.
"""

from __future__ import annotations

import html
import re
import unicodedata

_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>|<!--.*?-->", re.DOTALL)
_KEPT_FORMATS = "\u200c\u200d\u00ad"  # what writing systems need between letters
_LONGEST = 4000


def clean(text: object) -> str:
    r"""Return a text as one line of words.

    Examples
    --------
    >>> clean("<p>Male &amp; <b>female</b>\n over 16</p>")
    'Male & female over 16'
    """
    if text is None or text == "":
        return ""
    if isinstance(text, float) and text.is_integer():
        text = int(text)  # sheets have every number as a decimal
    words = str(text)
    if "<" in words:
        words = _TAGS.sub(" ", _SCRIPTS.sub(" ", words))
    if "&" in words:
        words = html.unescape(words)
    words = words.replace("\ufeff", "").replace("\u00a0", " ").replace("\ufffd", "?")
    words = "".join(
        " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c
        for c in words
        if unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn") or c in _KEPT_FORMATS
    )
    return " ".join(words.split())[:_LONGEST]
