"""What every request passes first, and the pages that are served as they were built."""
