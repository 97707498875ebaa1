"""Forms in their own words, who they ask, and which of them a query or a group means. Begin with `form`."""
