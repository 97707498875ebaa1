"""Where an environment is kept: a file, a folder, or a schema of a PostgreSQL server.

An address of a server is written `postgresql://ana@db.example/forms?schema=norland`. It has no
password: whoever lists the processes of a machine would see it. Passwords come from where PostgreSQL
itself looks for them: PGPASSWORD, PGPASSFILE, a service.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted

_SCHEMES: Final = ("postgresql", "postgres")
_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,49}")
# What may stand in an address besides the schema; all else is of the file of a service.
_SETTINGS: Final = ("host", "port", "service", "sslmode", "sslrootcert")
_SECRET: Final = ("password", "passfile", "sslpassword")
_ASKED: Final = "The address of a store on a server was given."
_EXAMPLE: Final = "postgresql://ana@db.example/forms?schema=norland"


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A store on a PostgreSQL server: one schema of a database, which holds nothing else.

    User, host, port and database are empty where PostgreSQL's own defaults are to decide, such as
    PGHOST. The settings are what else the address says: a service, how it is encrypted.
    """

    schema: str
    user: str = ""
    host: str = ""
    port: str = ""
    database: str = ""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """What the store is called: its schema."""
        return self.schema

    def __str__(self) -> str:
        person = f"{quote(self.user, safe='')}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        host, told = self.host, dict(self.settings)
        if "/" in host:
            # The folder of a socket.
            host, told = "", {"host": host, **told}
        elif ":" in host:
            host = f"[{host}]"
        given = "&".join(f"{key}={quote(text, safe='/')}" for key, text in told.items())
        return (
            f"postgresql://{person}{host}{port}/{quote(self.database, safe='')}?"
            f"{given}{'&' if given else ''}schema={self.schema}"
        )

    def __hash__(self) -> int:
        return hash(str(self))


StorePlace = Path | ServerPlace
"""Where an environment is kept."""


def is_address(text: str) -> bool:
    """Tell whether a text is meant to be an address of a server rather than a path.

    Examples
    --------
    >>> is_address("postgresql:///forms?schema=norland"), is_address("forms.gk")
    (True, False)
    """
    return text.partition("://")[0].casefold() in _SCHEMES and "://" in text


def store_place(given: str | Path | ServerPlace) -> StorePlace:
    """Return where an environment is kept, as a person writes it; refuse addresses with a fault.

    Examples
    --------
    >>> store_place("postgresql://ana@db.example/forms?schema=norland").schema
    'norland'
    >>> store_place("forms.gk").name
    'forms.gk'
    """
    if isinstance(given, str) and is_address(given):
        return _read(given)
    return given if isinstance(given, ServerPlace) else Path(given)


def _split(text: str) -> tuple[SplitResult, str, list[tuple[str, str]]] | None:
    try:
        parts = urlsplit(text)
        port = "" if parts.port is None else str(parts.port)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        return None
    return parts, port, pairs


def _read(text: str) -> ServerPlace:
    split = _split(text)
    if split is None:
        # Not within the handler: what Python says of an address may hold a password.
        raise InputError(
            Reason.BAD_OPTION, _ASKED, "It cannot be read as an address.", f"Write {_EXAMPLE}."
        )
    parts, port, pairs = split
    told = dict(pairs)
    problems = _faults(told, [key for key, _ in pairs])
    if parts.password is not None or any(key in told for key in _SECRET):
        found = "it has one, which others on this machine could see."
        do = "Take it out: set PGPASSWORD, or write it into the file that PGPASSFILE names."
        problems.insert(0, Problem(Reason.BAD_OPTION, "password", found, do))
    if parts.fragment or parts.path.count("/") > 1:
        found = "there is more than one name after the host."
        problems.append(Problem(Reason.BAD_OPTION, "database", found, f"Write {_EXAMPLE}."))
    if problems:
        found = f"It has {count_of(len(problems), 'fault')}."
        raise InputError(problems[0].reason, _ASKED, found, problems=problems)
    schema = told.pop("schema")
    host, inner = told.pop("host", "") or unquote(parts.hostname or ""), told.pop("port", "")
    return ServerPlace(
        schema, user=unquote(parts.username or ""), host=host, port=port or inner,
        database=unquote(parts.path.removeprefix("/")), settings=dict(sorted(told.items())),
    )  # fmt: skip


def _faults(told: Mapping[str, str], keys: list[str]) -> list[Problem]:
    problems = [
        Problem(
            Reason.UNKNOWN_NAME,
            f"setting {quoted([key])}",
            "it is not known here.",
            f"{did_you_mean(key, ('schema', *_SETTINGS))} Others belong in the file of a service.",
        )
        for key in told
        if key not in ("schema", *_SETTINGS, *_SECRET)
    ]
    problems += [
        Problem(
            Reason.BAD_OPTION, f"setting {quoted([key])}", "it is given twice.", "Give it once."
        )
        for key in told
        if keys.count(key) > 1 and key not in _SECRET
    ]
    schema = told.get("schema", "")
    if not schema:
        found, do = "it is not said which.", f"End the address with one: {_EXAMPLE}."
        problems.append(Problem(Reason.NOTHING_GIVEN, "schema", found, do))
    elif not _SCHEMA.fullmatch(schema) or schema == "public" or schema.startswith("pg_"):
        found = (
            "it holds what others put there."
            if schema == "public"
            else "it is no name for one of ours: small letters without accents, digits and _, at"
            " most 50, not pg_."
        )
        do = "Choose another schema, one for this environment alone."
        problems.append(Problem(Reason.BAD_NAME, "schema", found, do))
    return problems


_LONGEST = 60
# Windows keeps these for devices, whatever ending follows.
_RESERVED = {"aux", "con", "nul", "prn"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a file name, without ending, for every name: plain lower-case ASCII, short and unique.

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
