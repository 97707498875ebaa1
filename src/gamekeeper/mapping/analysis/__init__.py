"""Which variables, at which detail, could an intruder match on? Begin with `key_mapping`."""
