"""Which cells to suppress, as few as can be, so that people cannot be told apart.

Begin with `problem`, what is asked and what a suppression is. `both` is exact from the release to people,
record by record, and has an answer and a lower bound both ways; `hitting_sets` is for sets of variables
that must be broken, and for own classes; `compatibility` tells who can be whom.
"""
