"""Code that is given its generator: the laws of what it releases."""
