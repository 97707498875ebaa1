"""Gamekeeper: a workbench for statistical disclosure control that takes the intruder's side."""
