"""The edits there are, a file per thing that is edited: what each asks, may and does. Begin with `record`."""
