"""Couplings: how close the outputs of randomised code on two datasets can be kept."""

from .call import audit_randomized

__all__ = ["audit_randomized"]
