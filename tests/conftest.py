"""What every test runs under: Hypothesis profiles, and plots that open no window."""

import os

import matplotlib
from hypothesis import settings

settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile(
    "ci", max_examples=15, deadline=None, derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "quick")

# Not by the environment variable, which the kernels of the notebooks would inherit.
matplotlib.use("Agg")
