"""Edits of an environment: typed records, what they do, and what they would break. Begin with `environment`."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
