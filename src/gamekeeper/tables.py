"""What tables give away: bounds, feasible tables, attributions, subtraction, audits of hidden cells."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
