"""What holds for all tests and for the examples in the package and in docs/."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import matplotlib
import pytest

# Not by the environment variable, which the kernels of the notebooks would inherit.
matplotlib.use("Agg")

# Examples that call OpenDP are left out where it is not installed.
collect_ignore = (
    []
    if find_spec("opendp")
    else ["sensitivity_lab/releases/opendp.py", "sensitivity_lab/audits/opendp/call.py"]
)
# So are those that make widgets.
if not find_spec("ipywidgets"):
    collect_ignore += ["sensitivity_lab/explorer/call.py", "sensitivity_lab/explorer/panel.py"]


# And those that run DuckDB.
if not all(map(find_spec, ("duckdb", "scipy", "sqlglot"))):
    collect_ignore += ["sensitivity_lab/sql", "docs/how_to/sql.md"]


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Close the figures of a test: pyplot keeps them, and warns of more than 20."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
