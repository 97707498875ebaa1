"""Pages on a protected file: before and after, what it cost, what others may read. Begin with `protection_report`."""
