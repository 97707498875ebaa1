"""What a changed file is still good for: how far its tables, numbers and analyses are from before.

Begin with `margin_distances` (tables), then `propensity` (the file as a whole), `interval_overlap`
(analyses) and `number_loss` (numbers).
"""
