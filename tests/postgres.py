"""A PostgreSQL server for tests: made in a temporary folder, reached by a socket, gone afterwards.

The server refuses to run as root, and is run as the account `postgres` then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

_NUMBERS = count()


class MissingError(Exception):
    """There is no server to be had here; the text says why."""


class TestServer:
    """A server that runs; every store in it gets a schema of its own."""

    __test__ = False

    def __init__(self, folder: Path, account: dict[str, Any]) -> None:
        self.folder = folder
        self._account = account

    def address(self, schema: str = "", *, user: str = "postgres", database: str = "forms") -> str:
        """Return the address of a store, of a new one by default."""
        name = schema or f"store_{next(_NUMBERS)}"
        return f"postgresql://{user}@/{database}?host={self.folder}&schema={name}"

    def connect(self, database: str = "forms", user: str = "postgres") -> Any:
        import psycopg

        return psycopg.connect(host=str(self.folder), user=user, dbname=database, autocommit=True)

    def ask(self, question: str, database: str = "forms") -> list[tuple[Any, ...]]:
        with self.connect(database) as connection:
            cursor = connection.execute(question)
            return cursor.fetchall() if cursor.description else []

    def control(self, *words: str) -> None:
        self.run(["pg_ctl", "-D", str(self.folder / "data"), "-w", *words])

    def start(self) -> None:
        options = (
            f"-k {self.folder} -c listen_addresses='' -c fsync=off -c synchronous_commit=off"
            " -c full_page_writes=off -c max_connections=60 -c shared_buffers=16MB"
        )
        self.control("-l", str(self.folder / "log"), "-o", options, "start")

    def run(self, words: Sequence[str]) -> None:
        program = _program(words[0])
        subprocess.run(
            [program, *words[1:]],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._account,
        )


@contextmanager
def running_server() -> Iterator[TestServer]:
    """Run a server for as long as this lasts, or say why there is none."""
    try:
        import psycopg
    except ImportError:
        raise MissingError("psycopg is not installed") from None
    for name in ("initdb", "pg_ctl", "postgres"):
        _program(name)
    account: dict[str, Any] = {}
    # A short path: that of a socket has at most 107 letters.
    folder = Path(tempfile.mkdtemp(prefix="gk-pg-"))
    try:
        if os.geteuid() == 0:
            import pwd

            try:
                person = pwd.getpwnam("postgres")
            except KeyError:
                raise MissingError(
                    "it would run as root, and there is no account postgres"
                ) from None
            os.chown(folder, person.pw_uid, person.pw_gid)
            account = {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}
        server = TestServer(folder, account)
        data = str(folder / "data")
        server.run(
            ["initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
             "--locale=C.UTF-8", "--no-sync"]
        )  # fmt: skip
        server.start()
        try:
            made = "CREATE DATABASE forms TEMPLATE template0 ENCODING 'UTF8'"
            try:
                # Sorted otherwise than by bytes, as most databases of offices are.
                icu = " LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'"
                server.ask(made + icu, "postgres")
            except psycopg.Error:
                server.ask(made, "postgres")
            yield server
        finally:
            server.control("-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    if found := shutil.which(name):
        return found
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not places:
        raise MissingError(f"the program {name} of PostgreSQL is not found")
    return str(places[-1])
