"""Numbers without rounding: differences, norms, roots and damped values."""
