"""What follows from models about the population, for a record and for a file. Begin with `population_model`."""
