"""What an analysis concluded, saved, reviewed, and applied to a file. Begin with `proposal`."""
