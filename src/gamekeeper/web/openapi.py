"""The document of the server's interface (OpenAPI), from which the client of the pages is generated.

python -m gamekeeper.web.openapi FILE          writes it
python -m gamekeeper.web.openapi --check FILE  fails where the file is not what it would be
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gamekeeper.files.writing import write_file
from gamekeeper.web.app import bare_app


def document() -> dict[str, Any]:
    """Return the document; it depends on the code alone, not on the version of the package."""
    app = bare_app()
    found = app.openapi()
    found["info"]["version"] = "1"
    return found


def text() -> str:
    """Return the document as it is kept in a file."""
    return json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    """Write the document, or say whether a file has it."""
    *flags, name = arguments
    path = Path(name)
    if flags == ["--check"]:
        if path.is_file() and path.read_text(encoding="utf-8") == text():
            return 0
        sys.stderr.write(f"{path} is stale; run: make client\n")
        return 1
    write_file(path, text().encode(), private=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
