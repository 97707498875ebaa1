"""Decomposable models of a sample, and what follows about the population (thesis, chapters 5 to 8).

`annealing` and `mc3` find the models, `population_model` says what follows, `latent_classes` is
another kind of model. Begin with `annealing`, its `anneal`.
"""
