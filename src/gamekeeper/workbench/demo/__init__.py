"""The demonstration: a walk through all stages on the made-up country of Norland. Begin with `walk`."""
