"""Which decomposable models a sample speaks for: scores of margins, walks, searches. Begin with `search`."""
