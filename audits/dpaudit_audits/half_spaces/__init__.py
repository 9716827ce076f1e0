"""What to try against `dpaudit_algorithms.half_spaces`."""
