"""The key of a save: what was saved under it once is not saved again."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column, and the index by which it is looked up."""
    op.add_column("revision", sa.Column("key", sa.String(100)))
    op.create_index("ix_revision_key", "revision", ["key"])
