"""The columns of two files as what can be compared or clustered. Begin with `variables`."""
