"""Inputs that are nearly right, in search of those that break the command line.

`cases` makes them from a seed, `running` runs one in this process and judges it, `minimizing` makes
one that fails smaller, `__main__` does so for as long as is asked for. What was found is kept in
`corpus` and run again by every test.
"""
