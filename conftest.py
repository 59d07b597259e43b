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


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what has the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the guides as further: each runs what the tests of its subject do, and some for seconds."""
    for item in items:
        if item.path.suffix == ".md" and item.path.parent.name in ("how_to", "understand"):
            item.add_marker("further")


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Close the figures of a test: pyplot keeps them, and warns of more than 20."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
