"""How many classes there are of each size, in files about which others have printed what follows.

Only these counts are kept here, not the files.
"""

from __future__ import annotations

TOMATO = {
    1: 1434, 2: 253, 3: 71, 4: 33, 5: 11, 6: 6, 7: 2, 8: 3, 9: 1, 10: 2, 11: 2, 12: 1, 13: 1, 14: 1,
    16: 2, 23: 1, 27: 1,
}  # fmt: skip
"""Genes by how often they were read in a library of the tomato flower (Lijoi et al. 2007)."""

ADULT = {
    1: 15512, 2: 2098, 3: 754, 4: 375, 5: 189, 6: 155, 7: 97, 8: 73, 9: 39, 10: 37, 11: 29, 12: 18,
    13: 23, 14: 14, 15: 15, 16: 9, 17: 11, 18: 10, 19: 10, 20: 5, 21: 3, 22: 4, 23: 3, 24: 2, 25: 1,
    26: 3, 27: 5, 29: 1, 30: 2, 32: 1, 34: 1, 35: 1, 36: 1, 45: 1,
}  # fmt: skip
"""Adult, 30,162 records by nine variables, of which the tests of ARX expect shares."""
