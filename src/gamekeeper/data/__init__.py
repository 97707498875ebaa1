"""The corridor from a file to its key table: sources, codes, the one engine gate, counts."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
