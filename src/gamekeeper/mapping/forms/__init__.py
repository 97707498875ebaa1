"""Forms in their own words, who they ask, and which a query or a group means. Begin with `form`."""
