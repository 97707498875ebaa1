"""Who has a partner in the other file at all: weights learned without truth, and how many are in both.

Begin with `one_partner`, which learns weights; `overlap` says how many people are in both files.
"""
