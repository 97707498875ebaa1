"""The data environment: forms and variables together, under rules. Begin with `environment`."""
