"""What a protected file is still good for, as a result that may be published.

Begin with `measuring`; `analyses` has the regressions and tables that a steward lists.
"""
