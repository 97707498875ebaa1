"""A long history: the size of a store after 100,000 edits, and what it takes to look back and undo."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench_environment import large_environment
from benchmarks.measure import Row, measured
from gamekeeper.mapping.edits import SetMetadata
from gamekeeper.store.database.environment_store import EnvironmentStore

__all__ = ["rows"]

_FORMS, _VARIABLES = 200, 20
_MANY = 100_000
# An edit that is a revision of its own takes as long as ten in one; a file of edits makes many.
_TOGETHER = 100


def rows() -> Iterator[Row]:
    """Make the edits and look back; GAMEKEEPER_EDITS says how many."""
    n_edits = int(os.environ.get("GAMEKEEPER_EDITS", _MANY))
    environment = large_environment(_FORMS, _VARIABLES, 1)
    forms = list(environment.forms)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.gk"
        store = EnvironmentStore.create(path, environment, who="bench")
        yield Row("size of the store before, in bytes", path.stat().st_size, 0, 0, 0)

        def edit_all() -> int:
            for start in range(0, n_edits, _TOGETHER):
                edits = [
                    SetMetadata(form=forms[number % len(forms)], values={"seen": number})
                    for number in range(start, start + _TOGETHER)
                ]
                store.apply(edits, who="bench")
            return store.revision

        yield measured(
            f"{n_edits:,} edits, {_TOGETHER} to a revision",
            edit_all,
            output=lambda last: last,
            memory=False,
        )[0]
        row, _ = measured("close, with a backup", store.close, output=lambda _: 1, memory=False)
        yield row
        yield Row("size of the store after, in bytes", path.stat().st_size, 0, 0, 0)
        row, store = measured(
            "open", lambda: EnvironmentStore.open(path), output=lambda _: 1, memory=False
        )
        yield row
        yield measured(
            "the environment as it is",
            store.environment,
            output=lambda found: len(found.forms),
            memory=False,
        )[0]
        last = store.revision
        for as_of in (1, last // 2, last - 1):
            yield measured(
                f"as of revision {as_of:,}",
                lambda as_of=as_of: store.environment(as_of=as_of),
                output=lambda found: len(found.forms),
                memory=False,
            )[0]
        yield measured(
            f"undo a revision of {_TOGETHER} edits",
            lambda: store.undo(who="bench"),
            output=lambda _: 1,
            aim="1 s",
            memory=False,
        )[0]
        yield measured(
            "one more edit",
            lambda: store.apply([SetMetadata(form=forms[0], values={"seen": -1})], who="bench"),
            output=lambda _: 1,
            aim="1 s",
            memory=False,
        )[0]
        yield measured(
            "list the newest 50", lambda: store.history(most=50), output=len, memory=False
        )[0]
        yield measured("check", lambda: store.check() or 1, output=lambda one: one, memory=False)[0]
        store.close()
