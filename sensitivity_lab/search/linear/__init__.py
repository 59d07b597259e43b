"""Sum, mean and count: rearrangement."""
