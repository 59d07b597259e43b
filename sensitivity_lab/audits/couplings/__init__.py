"""Couplings: how close the outputs of randomised code on two datasets can stay."""
