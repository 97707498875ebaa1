"""Experiments on a known population: samples drawn, measures taken, scores judged."""
