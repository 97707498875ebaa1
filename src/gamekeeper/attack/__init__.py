"""Stage two: what an intruder can do with a release."""
