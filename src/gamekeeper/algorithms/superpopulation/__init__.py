"""How many people are unique in the population, from published models of how it came about.

Begin with `pitman` and `zayatz`, which look at the sizes of classes only; `log_linear` looks at the
cells of the table.
"""
