"""Where distinguishing events come from: what is learned from samples of both outputs, and how it is scored."""
