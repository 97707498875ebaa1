"""How far apart two records are, which pairs are worth comparing, who has a partner (paper 003).

Begin with `comparison`, then `objective`; `fellegi_sunter` learns weights, `overlap` counts
partners.
"""
