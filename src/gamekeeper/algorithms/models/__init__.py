"""Decomposable models of a sample, and what follows about the population (thesis, chapters 5 to 8).

Begin with `search`, then `population_model` and `rate_calibration`.
"""
