"""Decomposable models of a sample, and what follows about the population (thesis, chapters 5 to 8).

Begin with `clique_scores`, what a model is worth; `mc3` and `annealing` find models, `population_model`
says what follows, and `latent_classes` is another kind of model.
"""
