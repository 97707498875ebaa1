"""Decomposable models of a sample, and what follows about the population (thesis, chapters 5 to 8).

`fitting` finds the models, `inference` says what follows, `latent` is another kind of model.
Begin with `fitting`, its `search`.
"""
