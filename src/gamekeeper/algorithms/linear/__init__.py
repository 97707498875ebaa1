"""How small and how large hidden numbers can be, given limits of whole-numbered sums of them, with proofs.

Begin with `facts`, which is what is known; `search` is what follows.
"""
