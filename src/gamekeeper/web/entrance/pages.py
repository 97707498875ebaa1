"""The built pages: one document for every address of the workbench, and the files that it loads.

Files of the build have a digest in their names and never change. A server without the build says how
to get it, and answers all the same to whoever asks for data.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response

from gamekeeper.web.wire.errors import Refused

_YEAR = 365 * 24 * 3600
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Gamekeeper</title>
<h1>The pages are not built</h1>
<p>In a checkout, run <code>make pages</code>. An installed wheel has them.</p>
</html>
"""


def add_pages(app: FastAPI, static: Path) -> None:
    """Serve the built pages, and nothing that is outside their folder."""
    # Looked up once: what is asked for is compared with these names, and never joined to a path.
    files = {
        path.relative_to(static).as_posix(): path
        for path in sorted(static.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }

    @app.get("/{page:path}", include_in_schema=False)
    async def page(page: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        if page.startswith("api/"):
            raise Refused(404)
        found = files.get(page)
        if found is None and "." in page.rpartition("/")[2]:
            raise Refused(404)
        if found is not None and page != "index.html":
            kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
            lasting = page.startswith("assets/")
            kept = f"public, max-age={_YEAR}, immutable" if lasting else "no-cache"
            return FileResponse(found, media_type=kind, headers={"Cache-Control": kept})
        if "index.html" not in files:
            return HTMLResponse(_NOT_BUILT, 503)
        return FileResponse(files["index.html"], headers={"Cache-Control": "no-cache"})
