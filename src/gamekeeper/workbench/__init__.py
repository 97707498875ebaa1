"""Use cases: one function for each thing a person comes to do; the doors only parse and print."""
