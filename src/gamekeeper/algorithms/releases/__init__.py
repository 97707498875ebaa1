"""What is published about a table of counts: limits of sums, structure, schemes (thesis, chapter 2).

Begin with `constraints`; every method on tables takes those.
"""
