"""Runs migrations on the connection that it is handed, within its transaction."""

from alembic import context


def run() -> None:
    """Run the migrations that were asked for."""
    context.configure(connection=context.config.attributes["connection"])
    context.run_migrations()


# The name under which Alembic runs this file; imported as a module it does nothing.
if __name__ == "env_py":
    run()
