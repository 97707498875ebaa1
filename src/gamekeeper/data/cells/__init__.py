"""Tables as offices publish them: subtotals on axes, hidden cells with a status, counts or sums of values.

Begin with `table_set`, all that is published of one base; `hierarchy` says which categories add up,
`cell_file` and `argus` read the rows of one table.
"""
