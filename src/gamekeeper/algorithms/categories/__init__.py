"""How the categories of a variable relate, and how finely forms can be matched (papers 000 and 001).

Begin with `partitions`, then `partition_graph`, `harmonization` and `maximal_harmonization`.
"""
