"""Environments on disk: folders of sorted, diffable JSON with a published schema. Begin with `folder`."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
