"""What a protected file is still good for, as a result that may be published."""
