"""Checksums of what is kept. Those of rows that are there are made by whoever raises the store."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table and add the columns."""
    op.create_table(
        "seal",
        sa.Column("part", sa.String(20), nullable=False),
        sa.Column("digest", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("part", name="pk_seal"),
    )
    op.add_column("revision", sa.Column("seal", sa.String(16)))
    op.add_column("revision", sa.Column("touches_seal", sa.String(16)))
