"""The one history of migrations; `gamekeeper.store.database.versions` runs it."""
