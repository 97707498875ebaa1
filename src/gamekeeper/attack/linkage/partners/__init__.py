"""Who has a partner in the other file at all, and how likely a link is right. Begin with `partners`."""
