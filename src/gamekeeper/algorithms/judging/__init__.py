"""How well scores tell two kinds of records apart, and whether probabilities are right (thesis, chapter 8).

Begin with `discrimination`.
"""
