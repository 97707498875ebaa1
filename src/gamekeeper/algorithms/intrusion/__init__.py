"""What a match is worth and what it costs to find (paper 002; thesis, chapters 4 and 6).

Begin with `dis`, then `strategies`.
"""
