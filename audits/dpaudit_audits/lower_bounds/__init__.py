"""What to try against `dpaudit_algorithms.lower_bounds`."""
