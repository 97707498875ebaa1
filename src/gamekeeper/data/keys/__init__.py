"""The key table: classes of records that an intruder cannot tell apart. Begin with `counting`."""
