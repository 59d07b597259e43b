"""What every test runs under: Hypothesis profiles, and plots that open no window."""

import os

import matplotlib
from hypothesis import HealthCheck, settings

# Problems on which a query is undefined are left out, and a busy machine is slow: neither says
# anything about the code. What is drawn varies with the constants that Hypothesis finds in modules.
calm = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.filter_too_much, HealthCheck.too_slow],
}
settings.register_profile("quick", max_examples=10, **calm)
settings.register_profile(
    "ci", max_examples=15, derandomize=True, database=None, print_blob=True, **calm
)
settings.load_profile("ci" if os.environ.get("CI") else "quick")

# Not by the environment variable, which the kernels of the notebooks would inherit.
matplotlib.use("Agg")
