"""Attacks on sample uniques: DIS, SUDA and special uniques. Begin with `suda`."""
