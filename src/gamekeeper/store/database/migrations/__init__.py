"""The one history of migrations; `gamekeeper.store.database.migrating` runs it."""
