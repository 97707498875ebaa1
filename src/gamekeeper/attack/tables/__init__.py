"""What released counts give away: bounds, feasible tables, subtraction, attributions. Begin with `bounds`."""
