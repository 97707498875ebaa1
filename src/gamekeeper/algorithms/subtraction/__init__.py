"""SAP: what somebody learns who knows n of the people (thesis, chapter 2).

Begin with `probability`, one table, then `release`, any tables.
"""
