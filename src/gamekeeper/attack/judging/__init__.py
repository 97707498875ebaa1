"""Measures of record-level risk judged against a known population. Begin with `judgement`."""
