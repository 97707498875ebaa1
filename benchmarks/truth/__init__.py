"""Is what the models say true? Samples of known populations, estimates against what is so."""
