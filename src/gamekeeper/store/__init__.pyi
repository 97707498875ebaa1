from gamekeeper.store.database.restoration import copy_store as copy_store
from gamekeeper.store.database.environment_store import EnvironmentStore as EnvironmentStore
from gamekeeper.store.database.restoration import restore_store as restore_store
from gamekeeper.store.folder import (
    read_environment as read_environment,
    write_environment as write_environment,
)
from gamekeeper.store.folder import (
    read_decisions as read_decisions,
    read_definition as read_definition,
    read_edits as read_edits,
    read_form as read_form,
)
