"""The one history of migrations; `gamekeeper.store.database.file.versions` runs it."""
