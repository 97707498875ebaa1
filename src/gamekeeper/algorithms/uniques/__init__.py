"""Which sets of variables single out a record, and how special that makes it (paper 002).

Begin with `minimal_uniques`; `scores` weighs what it finds and counts keys with missing cells, `dis`
and `strategies` say what a match is worth and what it costs.
"""
