"""A folder that keeps the finished samples of a simulation, so that it can be resumed.

`plan.json` says what is simulated and on which data; `sample-000001.json` and so on hold the
numbers of one finished sample each, never records. Files are written beside and renamed, so that
each is either whole or absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from gamekeeper.errors import InputError, Reason
from gamekeeper.files.asides import make_folders
from gamekeeper.files.gate import fault_of_folder
from gamekeeper.files.reading import require_ordinary
from gamekeeper.files.writing import refusal, write_file
from gamekeeper.wording import quoted

Values = Mapping[str, float | None]


class SampleFolder:
    """The finished samples of one plan, on disk."""

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        """Open a folder, or make it; refuse one that belongs to another plan."""
        self.path = path
        asked = f"The simulation was to be kept in the folder {quoted([str(path)], letters=200)}."
        # Through JSON once, so that tuples and lists compare equal.
        wanted = json.loads(json.dumps(plan))
        kept = self._read(path / "plan.json")
        if kept is None:
            found, do = fault_of_folder(path)
            if found:
                raise InputError(Reason.NOT_WRITABLE, asked, f"It {found}", do)
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise InputError(
                    Reason.NOT_READABLE,
                    asked,
                    "It holds other things and no readable plan of a simulation.",
                    "Give an empty or a new folder (--folder).",
                )
            self._write("plan.json", wanted)
        elif kept != wanted:
            differing = sorted(
                name for name in kept.keys() | wanted.keys() if kept.get(name) != wanted.get(name)
            )
            raise InputError(
                Reason.STALE,
                asked,
                f"It belongs to a simulation with another plan; these differ: {quoted(differing)}.",
                "Give the same options and data to resume it, or another folder (--folder).",
            )

    def read(self, number: int, fraction: str) -> Values | None:
        """Return the values of a finished sample, or None if it must still be drawn."""
        found = self._read(self.path / _name(number))
        if found is None or (found.get("sample"), found.get("fraction")) != (number + 1, fraction):
            return None
        values = found.get("values")
        if not isinstance(values, dict):
            return None
        named = cast("dict[str, Any]", values)
        fit = all(value is None or type(value) is float for value in named.values())
        return named if fit else None

    def write(self, number: int, fraction: str, values: Values) -> None:
        """Keep the values of a finished sample."""
        self._write(
            _name(number), {"sample": number + 1, "fraction": fraction, "values": dict(values)}
        )

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            require_ordinary(path)
            found: object = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        place = quoted([str(self.path)], letters=200)
        asked = f"The simulation was to be kept in {place}; it keeps {quoted([name])}."
        try:
            make_folders(self.path, [], private=True)
        except OSError as error:
            raise refusal(asked, error, "Finished samples are kept.") from error
        text = json.dumps(content, allow_nan=False, indent=1)
        write_file(self.path / name, text.encode(), private=True, asked=asked)


def _name(number: int) -> str:
    return f"sample-{number + 1:06d}.json"
