"""A protected file attacked again: whom rows fit, what is linked, how it was masked. Begin with `attacks`."""
