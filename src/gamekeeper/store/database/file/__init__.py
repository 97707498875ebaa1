"""The file of a store: connections, versions, copies, and what the database refuses in our words."""
