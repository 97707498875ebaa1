"""Links between files without a common variable, by the structure they share (paper 004).

Begin with `clusterings`, then `group_matching` and `individual_matching`.
"""
