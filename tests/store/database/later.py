"""A version of stores after today's, as a later Gamekeeper would have it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gamekeeper.store.database import environment_store, loading, words
from gamekeeper.store.database.words import VERSIONS

LATER = f"{int(VERSIONS[-1]) + 1:04}"
"""The version after today's."""

_RAISED = "As a later version describes it."

_MIGRATION = f'''
import sqlalchemy as sa
from alembic import op

revision = "{LATER}"
down_revision = "{VERSIONS[-1]}"


def upgrade():
    op.create_table("later", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("UPDATE environment SET description = '{_RAISED}'")
'''

Put = Callable[[object, str, object], None]


def become_later(folder: Path, put: Put = setattr) -> None:
    """Let the package work with stores of the version after today's; `put` sets attributes."""
    scripts = folder / "migrations"
    today = Path(words.__file__).with_name("migrations")
    shutil.copytree(today, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / f"v{LATER}_later.py").write_text(_MIGRATION, encoding="utf-8")
    put(words, "_SCRIPTS", scripts)
    for module in (words, environment_store, loading):
        put(module, "VERSIONS", (*VERSIONS, LATER))


def raised(everything: dict[str, Any]) -> dict[str, Any]:
    """Return what a store holds once a later version has raised it."""
    return everything | {"header": everything["header"] | {"description": _RAISED}}
