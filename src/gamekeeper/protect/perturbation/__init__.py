"""The classical methods as steps: tails, samples, PRAM, microaggregation, rank swapping, noise.

Each is what `gamekeeper.protect.step` says, and leans on an algorithm of the same name. `columns` has
what they share: numbers of a coded file in and out, strata, and one order of records whatever the file's.
"""
