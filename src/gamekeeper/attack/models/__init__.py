"""The Bayesian intruder: models fitted to the release, and what follows from them. Begin with `fitting`."""
