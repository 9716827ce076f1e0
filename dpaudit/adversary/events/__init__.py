"""Learn distinguishing events from samples of both datasets, and score them."""
