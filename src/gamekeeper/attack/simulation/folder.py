"""A folder that keeps the finished samples of a simulation, so that it can be resumed.

`plan.json` says what is simulated and on which data; `sample-000001.json` and so on hold the
numbers of one finished sample each, never records. Files are written beside and renamed, so that
each is either whole or absent.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from gamekeeper.errors import InputError, Reason, StoreError
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
            found: object = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        beside = self.path / f".{secrets.token_hex(4)}.tmp"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with beside.open("x", encoding="utf-8") as file:
                json.dump(content, file, allow_nan=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path / name)
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            raise StoreError(
                Reason.NOT_WRITABLE,
                f"The simulation was to be kept in {quoted([str(self.path)], letters=200)}.",
                f"The system refused {quoted([name])}: {error.strerror or 'no reason given'}.",
                "Check the space left and the permissions; finished samples are kept.",
            ) from error


def _name(number: int) -> str:
    return f"sample-{number + 1:06d}.json"
