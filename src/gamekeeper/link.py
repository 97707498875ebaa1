"""Two files linked by what they have in common: records by records, or structure by structure."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
