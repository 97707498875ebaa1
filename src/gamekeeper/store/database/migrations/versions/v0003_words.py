"""Forms in their own words, and rules of the environment; what was there says nothing of either."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("environment", sa.Column("rules", sa.Text))
    op.add_column("form", sa.Column("words", sa.Text))
