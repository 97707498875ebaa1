"""Tables of counts, releases and their files. Begin with `count_table`, then `release`."""
