"""Worked examples with known answers, and the runner that checks any folder of them."""
