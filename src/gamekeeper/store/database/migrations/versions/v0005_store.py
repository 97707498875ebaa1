"""A store: an environment with its codes, its scenarios, its history, and checksums of all.

Its tables are written once, in `engines`. Whoever makes the next version writes out here what they
were: a migration is not to change with the code.
"""

from alembic import op

from gamekeeper.store.database.engines import METADATA

revision = "0005"
down_revision = None


def upgrade() -> None:
    """Make the tables, with their indexes."""
    for table in METADATA.tables.values():
        op.get_context().impl.create_table(table)
