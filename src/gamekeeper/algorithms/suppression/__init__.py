"""Which cells to suppress, as few as can be, so that people cannot be told apart.

`problem` says what is asked and what a suppression is; `released_to_people` is exact, record by
record; `hitting_sets` is its other half, where sets of variables are given that must be broken;
`both` and `own` give an answer and a lower bound. Begin with `problem`.
"""
