"""Who can be whom: which people fit which released rows, where cells are suppressed.

`packed_keys` has rows as fields of words, so that a row on some of its columns is one operation;
`candidates` counts by every criterion; `matchings` tells which pairs occur in some one-to-one
assignment of everybody, and how probable they are. Begin with `candidates`.
"""
