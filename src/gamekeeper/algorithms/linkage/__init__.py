"""How far apart two records are, and which pairs are worth comparing (paper 003).

Begin with `comparison`, then `objective`; `partners` learns weights, and tells who has a partner.
"""
