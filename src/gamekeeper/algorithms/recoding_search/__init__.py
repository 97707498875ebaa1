"""Which categories lose least among those under which a file is safe enough: recoding by search.

Begin with `choices` (what may be chosen), then `search`; `cuts` has the proofs that it leaves.
"""
