"""What a search returns, how it is measured from its witness, and how it tells itself."""
