"""Decomposable models of a sample, and what follows about the population (thesis, chapters 5 to 8).

`fitting` finds the models, `inference` says what follows. Begin with `fitting`, its `search`.
"""
