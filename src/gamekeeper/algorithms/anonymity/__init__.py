"""What the counts of classes alone say: models of anonymity as the field knows them by name.

Begin with `attackers` (what a record's class means to whom), then `diversity` and `closeness` (what
a class says about its members), `unsafe_combinations`, and `households`.
"""
