"""A store: an environment with its codes, its scenarios, its history, and checksums of all."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "environment",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("codes_saved", sa.Integer, nullable=False),
        sa.Column("rules", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_environment"),
    )
    op.create_table(
        "variable",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("folded", sa.String(64), nullable=False),
        sa.Column("definition", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_variable"),
        sa.UniqueConstraint("folded", name="uq_variable_folded"),
    )
    op.create_table(
        "code",
        sa.Column("variable_id", sa.Integer, nullable=False),
        sa.Column("code", sa.String(40), nullable=False),
        sa.Column("blocks", sa.Text),
        sa.Column("since", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("variable_id", "code", name="pk_code"),
        sa.ForeignKeyConstraint(["variable_id"], ["variable.id"], name="fk_code_variable_id"),
    )
    op.create_table(
        "form",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("folded", sa.String(64), nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("words", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_form"),
        sa.UniqueConstraint("folded", name="uq_form_folded"),
    )
    op.create_table(
        "selection",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("variable_id", sa.Integer, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_selection"),
        sa.ForeignKeyConstraint(["variable_id"], ["variable.id"], name="fk_selection_variable_id"),
    )
    op.create_index("ix_selection_variable_id", "selection", ["variable_id"])
    op.create_table(
        "instance",
        sa.Column("form_id", sa.Integer, nullable=False),
        sa.Column("selection_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("form_id", "selection_id", name="pk_instance"),
        sa.ForeignKeyConstraint(["form_id"], ["form.id"], name="fk_instance_form_id"),
        sa.ForeignKeyConstraint(
            ["selection_id"], ["selection.id"], name="fk_instance_selection_id"
        ),
    )
    op.create_index("ix_instance_selection_id", "instance", ["selection_id"])
    op.create_table(
        "form_group",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("folded", sa.String(64), nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_form_group"),
        sa.UniqueConstraint("folded", name="uq_form_group_folded"),
    )
    op.create_table(
        "scenario",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("folded", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_scenario"),
        sa.UniqueConstraint("folded", name="uq_scenario_folded"),
    )
    op.create_table(
        "revision",
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("at", sa.String(27), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("action", sa.String(10), nullable=False),
        sa.Column("of", sa.Integer),
        sa.Column("unrestricted", sa.Boolean, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("edits", sa.Text, nullable=False),
        sa.Column("changes", sa.LargeBinary, nullable=False),
        sa.Column("seal", sa.String(16)),
        sa.Column("touches_seal", sa.String(16)),
        sa.Column("key", sa.String(100)),
        sa.PrimaryKeyConstraint("number", name="pk_revision"),
    )
    op.create_index("ix_revision_at", "revision", ["at"])
    op.create_index("ix_revision_key", "revision", ["key"])
    op.create_table(
        "touch",
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("folded", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("revision", "kind", "folded", name="pk_touch"),
        sa.ForeignKeyConstraint(["revision"], ["revision.number"], name="fk_touch_revision"),
    )
    op.create_index("ix_touch_folded", "touch", ["folded"])
    op.create_table(
        "seal",
        sa.Column("part", sa.String(20), nullable=False),
        sa.Column("digest", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("part", name="pk_seal"),
    )
