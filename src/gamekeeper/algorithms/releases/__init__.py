"""What is published of tables: limits of sums, their structure, schemes, cells that add up.

Begin with `constraints` for tables of counts (thesis, chapter 2), with `cell_system` for tables with
subtotals.
"""
