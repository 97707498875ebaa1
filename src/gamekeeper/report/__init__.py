"""What people look at: drawings, tables for reading, and the HTML report. Begin with `page`."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
