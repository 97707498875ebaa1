"""`gamekeeper link`: the commands on record linkage. Begin with `app`."""
