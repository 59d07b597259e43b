"""The transformations that a pipeline is made of."""
