"""What to try against `dpaudit_algorithms.interior_points`."""
