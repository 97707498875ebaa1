"""File names for names: plain lower-case ASCII, short, and different for different names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

_LONGEST = 60
# Windows keeps these for devices, whatever ending follows.
_RESERVED = {"aux", "con", "nul", "prn"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a file name, without ending, for every name.

    A hash of the name is added where nothing of it is left or another name comes to the same.

    Examples
    --------
    >>> slugs(["Économie & emploi"])
    {'Économie & emploi': 'economie-emploi'}
    >>> slugs(["Age", "age?"])
    {'Age': 'age-39b7370f', 'age?': 'age-37ae21b3'}
    """
    chosen = {name: _slug(name, 0) for name in names}
    for digits in (8, 16, 32):
        uses = Counter(chosen.values())
        unfit = [
            name for name, slug in chosen.items() if not slug or slug in _RESERVED or uses[slug] > 1
        ]
        chosen |= {name: _slug(name, digits) for name in unfit}
    return chosen


def _slug(name: str, digits: int) -> str:
    folded = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^a-z0-9]+", "-", folded.lower()).strip("-")
    if not digits:
        return plain[:_LONGEST].rstrip("-")
    own = sha256(name.encode()).hexdigest()[:digits]
    return f"{plain[: _LONGEST - digits - 1].rstrip('-')}-{own}".lstrip("-")
