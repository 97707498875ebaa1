"""What an intruder infers: models of the population, probabilities of a right match, attacks."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
