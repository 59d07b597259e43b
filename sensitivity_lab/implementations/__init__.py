"""The sensitivity of code as it is implemented: folds, orders of the records, rounding."""
