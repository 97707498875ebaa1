"""How numbers and codes are changed so that they tell less of one person: the classical methods.

`mdav` and `univariate_groups` put records in groups and `group_means` gives each group its mean;
`rank_swapping` exchanges values of near ranks; `invariant_pram` draws categories anew so that counts
stay as expected, and `exact_counts` so that they stay; `moment_noise` adds noise and keeps moments;
`tail_coding` cuts tails; `record_sampling` takes some records. None of them draws numbers of its own:
what is random comes in as arrays, a row per record, so that records may come in any order.
Begin with `mdav`.
"""
