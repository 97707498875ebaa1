"""The data environment: variables, forms, codes, groups, queries. Begin with `environment`."""
