"""A file of microdata as people ask for it: opened, recoded, counted. Begin with `opening`."""
