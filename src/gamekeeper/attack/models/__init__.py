"""The Bayesian intruder: models fitted to the release, and what follows. Begin with `fitting`."""
