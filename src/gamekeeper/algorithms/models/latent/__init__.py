"""Latent class models of a sample, which are averaged with. Begin with `latent_classes`."""
