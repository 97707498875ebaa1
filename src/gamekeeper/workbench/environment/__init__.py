"""What people do with an environment: open, look around, edit, map, look back. Begin with `opening`."""
