"""Which cells to suppress, as few as can be, so that people cannot be told apart.

`problem` says what is asked and what a suppression is; `both` is exact for (k,1), record by record,
and gives an answer for (k,k) and a lower bound, as `hitting_sets` does for classes; that is exact
where sets of variables are given that must be broken. `compatibility` counts candidates. Begin with
`problem`.
"""
