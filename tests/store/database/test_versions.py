"""One history of migrations, which gives the tables that the code works with."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

import gamekeeper
from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database import words
from gamekeeper.store.database.engines import METADATA, reading
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file import FileAccess
from gamekeeper.store.database.restoration import restore_store
from gamekeeper.store.database.words import VERSIONS
from tests.store.database.conftest import WHO, contents, everything, refusal
from tests.store.database.later import become_later, raised

ROOT = Path(gamekeeper.__file__).parents[2]
MIGRATIONS = Path(words.__file__).with_name("migrations")


@pytest.fixture
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the migrations of a later version."""
    return tmp_path_factory.mktemp("later")


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "newline")
    return ScriptDirectory.from_config(config)


def test_the_versions_are_those_of_the_migrations() -> None:
    assert tuple(script.revision for script in scripts().walk_revisions())[::-1] == VERSIONS


def test_migrations_make_the_tables_that_the_code_has(store: EnvironmentStore) -> None:
    engine = FileAccess(store.path, readonly=True).engine()
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_the_same_migrations_run_on_postgresql() -> None:
    written = io.StringIO()
    directory = scripts()
    with EnvironmentContext(
        Config(),
        directory,
        fn=lambda current, _: directory._upgrade_revs("head", current),
        as_sql=True,
    ) as context:
        context.configure(dialect_name="postgresql", output_buffer=written)
        context.run_migrations()
    sql = written.getvalue()
    assert sql.count("CREATE TABLE") == len(METADATA.tables) + 1
    assert "BYTEA" in sql
    assert "SERIAL" not in sql


def test_an_older_store_is_brought_up_to_date_after_a_backup(
    path: Path, environment: Environment, later: Path
) -> None:
    EnvironmentStore.create(path, environment, who=WHO).close()
    path.with_name("forms.gk.backup").unlink()
    with pytest.MonkeyPatch.context() as patch:
        become_later(later, patch.setattr)
        with EnvironmentStore.open(path) as store:
            assert everything(store.environment()) == raised(everything(environment))
        # The backup is of the older version, and good.
        assert restore_store(path)[1] is not None
        with EnvironmentStore.open(path) as store:
            assert everything(store.environment()) == raised(everything(environment))
            store.apply([AddForm(name="A")], who=WHO)
            store.check()
        before = contents(path.parent)
    refusal(lambda: EnvironmentStore.open(path), Reason.NEWER_VERSION)
    assert contents(path.parent) == before


@pytest.fixture
def older(closed: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that was made before the newest migration."""
    become_later(later, monkeypatch.setattr)
    return closed


def test_an_older_store_that_can_only_be_read_is_left_alone(older: Path) -> None:
    before = contents(older.parent)
    error = refusal(lambda: EnvironmentStore.open(older, readonly=True), Reason.READ_ONLY)
    assert "older version" in error.found
    assert contents(older.parent) == before


def test_a_migration_that_fails_changes_nothing(older: Path) -> None:
    before = older.read_bytes()

    def fail(config: Config, version: str) -> None:
        upgrade(config, version)
        raise OSError(28, "No space left on device")

    upgrade = command.upgrade
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "upgrade", fail)
        refusal(lambda: EnvironmentStore.open(older), Reason.DISK_FULL)
    assert older.read_bytes() == before
    with EnvironmentStore.open(older) as store:
        store.check()


@pytest.mark.slow
def test_a_wheel_has_the_migrations_and_they_run(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import gamekeeper;"
        "assert gamekeeper.__file__.startswith(sys.argv[1]);"
        "from gamekeeper.store.database.environment_store import EnvironmentStore;"
        "store = EnvironmentStore.create(sys.argv[2], who='x'); store.check(); store.close()"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "site"), str(tmp_path / "a.gk")],
        check=True,
        cwd=tmp_path,
    )
