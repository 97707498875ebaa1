"""What released counts give away: bounds, feasible tables, subtraction. Begin with `bounds`."""
