"""Mechanisms that are recorded."""

from __future__ import annotations


class Mechanism:
    """A noisy mechanism, as a library has one."""

    def __init__(self, sensitivity):
        self.sensitivity = sensitivity

    def randomise(self, value):
        return value + 1000
