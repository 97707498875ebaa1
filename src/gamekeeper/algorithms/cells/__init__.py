"""What can be worked out about the hidden cells of tables with subtotals, of counts or of sums.

Begin with `cell_system`, which says which cells add up to which; `linear_facts` are what is known of
them, `fact_bounds` what follows, with proofs, and `primary_rules` which cells must be hidden at all.
"""
