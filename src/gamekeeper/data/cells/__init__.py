"""Tables as offices publish them: subtotals, hidden cells with a status, counts or sums of values.

Begin with `table_set`, all that is published of one base; `hierarchy` says which categories add up,
`cell_file` has the rows of one table, and `argus` reads those of tau-ARGUS.
"""
