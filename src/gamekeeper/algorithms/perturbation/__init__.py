"""How numbers and codes are changed so that they tell less of one person: the classical methods.

`microaggregation` puts records in groups and gives each its mean; `masking` exchanges values of
near ranks, adds noise and keeps moments, cuts tails, takes some records; `pram` draws categories
anew so that counts stay. None of them draws numbers of its own: what is random comes in as arrays,
a row per record, so that records may come in any order. Begin with `microaggregation`.
"""
