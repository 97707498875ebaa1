"""What a store holds now: its tables, and the way between rows and an environment."""
