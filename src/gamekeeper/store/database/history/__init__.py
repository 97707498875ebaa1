"""What happened in a store: revisions, the way back, and what an edit may still change."""
