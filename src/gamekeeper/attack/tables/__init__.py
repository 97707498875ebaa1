"""What tables give away: bounds, feasible tables, subtraction, audits. Begin with `bounds`."""
