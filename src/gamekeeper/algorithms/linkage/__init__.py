"""How far apart two records are, and which pairs are worth comparing (paper 003).

Begin with `comparison`, then `objective`; `fellegi_sunter` learns weights, and
`overlap` tells who has a partner.
"""
