"""The tables that agree with a release: how many, which, how probable. Begin with `counting`."""
