"""Recoding: how the categories of a file are made coarser, as one writes it. Begin with `grammar`."""
