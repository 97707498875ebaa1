"""The migrations, each in its file, in order."""
