"""Weighted sums by rank that never fall when a record rises: sums, quantiles, trimmed means."""
