"""Environments in a store: one SQLite file with transactions, history, undo and backup.

Begin with `environment_store`.
"""
