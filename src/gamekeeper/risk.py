"""What gives somebody in a file away: uniques, matching, simulation, and how measures are judged."""

from gamekeeper.public_names import names_of

__getattr__, __dir__ = names_of(__name__, __file__)
