"""Which categories lose least among those under which a file is safe enough: recoding by search.

Begin with `choices` (what may be chosen), then `search`; `unsafe` has the proofs that it leaves.
"""
