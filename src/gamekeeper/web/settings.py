"""How a server is set up: which store, where it listens, what it may read, where it keeps its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from gamekeeper.errors import InputError, Reason
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import quoted, shown_path

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"[A-Za-z0-9.\-]{1,253}|\[[0-9A-Fa-f:]{2,45}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a server is started with; made by `settings_of`.

    Attributes
    ----------
    store
        The store that is held open.
    state
        The private folder of the server: its database and the results of jobs.
    folders
        The folders with files of people that may be read, by the names that pages show.
    origin
        The address that people use, where it is not that of the server itself.
    keep_days
        After so many days the results of a job are deleted.
    """

    store: StorePlace
    state: Path
    folders: dict[str, Path]
    host: str = "127.0.0.1"
    port: int = 8720
    origin: str = ""
    keep_days: int = 14

    @property
    def origins(self) -> frozenset[str]:
        """The addresses that a page of this server can have come from."""
        own = {f"http://{host}:{self.port}" for host in (*LOOPBACK, self.host)}
        return frozenset({self.origin} if self.origin else own)

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may say."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def is_secure(self) -> bool:
        """Whether people come by https."""
        return self.origin.startswith("https://")


def checked_origin(text: str) -> str:
    """Return an address as browsers write it, or refuse it.

    Examples
    --------
    >>> checked_origin("https://Forms.example/")
    'https://forms.example'
    """
    parts = urlsplit(text.strip())
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    fits = parts.scheme in ("http", "https") and _HOST.fullmatch(shown) and not parts.username
    if not fits or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise InputError(
            Reason.BAD_OPTION,
            f"The address {quoted([text])} was given.",
            "It is not one of a server.",
            "Write https://forms.example, without anything after the name.",
        )
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


def named_folders(folders: tuple[Path, ...]) -> dict[str, Path]:
    """Return folders by the names that pages show: their own, with a number where two are alike."""
    named: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                Reason.NOT_FOUND,
                f"Files in {shown_path(folder)} were to be read.",
                "There is no such folder.",
                "Check the path.",
            )
        place = folder.resolve()
        if place in named.values():
            continue
        name, number = place.name or "root", 1
        while name in named:
            number += 1
            name = f"{place.name} ({number})"
        named[name] = place
    return named
