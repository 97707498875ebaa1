"""An invented population of any size, for demonstrations, tests and benchmarks."""

from gamekeeper.data.population.making import WEIGHT, make_population, sample_population
from gamekeeper.data.population.people import CATEGORIES, HOUSEHOLD

__all__ = ["CATEGORIES", "HOUSEHOLD", "WEIGHT", "make_population", "sample_population"]
