"""What tables of counts give away: bounds, feasible tables, attributions, subtraction."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
