"""What people ask for: one dataclass per use case, the only place where its options are written."""
