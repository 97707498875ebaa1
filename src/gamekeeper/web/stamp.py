"""Whether the built pages are those of the sources beside them, in a checkout.

Needs nothing but Python's own library: whoever builds the package loads this file by its path.
"""

from hashlib import sha256
from pathlib import Path

STAMP = ".stamp"
"""The file among the built pages that says what they were built from."""
_LEFT_OUT = ("node_modules", "screenshots")
_TESTS = ".test.ts"


def stamp_of(frontend: Path) -> str:
    """Return a digest of all that the pages are built from."""
    made = sha256()
    for path in sorted(frontend.rglob("*")):
        place = path.relative_to(frontend)
        if place.parts[0] in _LEFT_OUT or not path.is_file() or path.name.endswith(_TESTS):
            continue
        made.update(place.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def is_current(frontend: Path, static: Path) -> bool:
    """Tell whether the built pages are those of the sources; without sources, whether there are any."""
    stamp = static / STAMP
    if not stamp.is_file() or not (static / "index.html").is_file():
        return False
    if not (frontend / "package.json").is_file():
        return True
    return stamp.read_text(encoding="ascii").strip() == stamp_of(frontend)
