"""Categories made coarser: as a steward types it, or as a search finds it."""
