"""The parts of the demo environment: what is asked, in which words, and on which forms."""
