"""A case: files, and the command that is to read them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.ingredients import world_files


@dataclass(frozen=True)
class Case:
    """What is written to a folder, and what is typed; `{place}` in it is the folder."""

    kind: str
    arguments: tuple[str, ...]
    files: dict[str, bytes]

    def write(self, place: Path) -> list[str]:
        """Write the files and return the command."""
        for name, content in self.files.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return [text.replace("{place}", str(place)) for text in self.arguments]

    def with_file(self, name: str, content: bytes) -> Case:
        """Return the case with another content of a file."""
        return replace(self, files={**self.files, name: content})

    def to_json(self) -> str:
        """Return the case as text, files as texts where they are; a store that is whole by name."""
        files: dict[str, str] = {}
        for name, content in self.files.items():
            if content == world_files().get(name):
                files[name] = f"given:{name}"
                continue
            try:
                files[name] = "text:" + content.decode("utf-8")
            except UnicodeDecodeError:
                files[name] = "base64:" + base64.b64encode(content).decode()
        document = {"kind": self.kind, "arguments": self.arguments, "files": files}
        return json.dumps(document, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Case:
        """Return the case of a text."""
        document = json.loads(text)
        files: dict[str, bytes] = {}
        for name, given in document["files"].items():
            form, _, content = given.partition(":")
            if form == "given":
                files[name] = world_files()[content]
            else:
                files[name] = base64.b64decode(content) if form == "base64" else content.encode()
        return Case(document["kind"], tuple(document["arguments"]), files)
