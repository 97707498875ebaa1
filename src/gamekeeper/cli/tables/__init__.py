"""`gamekeeper tables`: the commands on released tables. Begin with `app`."""
