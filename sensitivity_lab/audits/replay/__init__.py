"""Replay: what one dataset releases is fed back to the run on a neighbor, step by step."""
