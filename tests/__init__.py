"""The tests of Gamekeeper."""
