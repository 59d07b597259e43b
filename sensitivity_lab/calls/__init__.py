"""The public functions: sensitivities, their curves, and the table of neighbors."""
