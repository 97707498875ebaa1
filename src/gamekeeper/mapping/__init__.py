"""Stage one: which variables, at which level of detail, could an intruder match on?"""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
