"""The public functions: sensitivities, their curves and sweeps, and the table of neighbors."""
