"""Repeated samples from a notional population, and how measures of risk fare on them.

Begin with `simulate`.
"""
