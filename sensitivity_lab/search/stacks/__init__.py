"""Several queries released together, each searched alone."""
