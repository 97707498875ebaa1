"""What people ask of an environment; what these requests share is in `shared`."""
