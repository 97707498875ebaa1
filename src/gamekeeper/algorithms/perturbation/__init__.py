"""How numbers and codes are changed so that they tell less of one person: the classical methods.

`microaggregation` puts records in groups and gives each group its mean; `pram` draws categories anew so
that counts stay as expected, or stay; `masking` adds noise that keeps moments, exchanges values of near
ranks, cuts tails, and takes some records. None of them draws numbers of its own: what is random comes
in as arrays, a row per record, so that records may come in any order. Begin with `microaggregation`.
"""
