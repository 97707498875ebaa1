"""Tables of counts and of sums, as they are true, released or published. Begin with `table_set`, then `release`."""
