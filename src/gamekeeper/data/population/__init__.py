"""An invented population of any size, for demonstrations, tests and benchmarks."""

from gamekeeper.data.population.labels import CATEGORIES, HOUSEHOLD
from gamekeeper.data.population.making import make_population
from gamekeeper.data.population.sampling import WEIGHT, sample_population

__all__ = ["CATEGORIES", "HOUSEHOLD", "WEIGHT", "make_population", "sample_population"]
