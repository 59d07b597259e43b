"""Certified bounds on an interval: boxes of pairs, and the answers that they can have."""
