"""What holds for all tests and for the examples in the package and in docs/."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parent

# Not by the environment variable, which the kernels of the notebooks would inherit.
matplotlib.use("Agg")

# Examples that call OpenDP are left out where it is not installed.
collect_ignore = (
    []
    if find_spec("opendp")
    else ["sensitivity_lab/releases/opendp.py", "sensitivity_lab/audits/opendp.py"]
)
# And those that run DuckDB.
if not all(map(find_spec, ("duckdb", "scipy", "sqlglot"))):
    collect_ignore += ["sensitivity_lab/sql", "docs/how_to/sql.md"]
if not all(map(find_spec, ("sympy", "z3"))):
    collect_ignore += ["sensitivity_lab/formulas", "docs/how_to/formulas.md"]


EXAMPLES = [ROOT / folder for folder in ("sensitivity_lab", "docs/how_to", "docs/understand")]
"""Docstrings and guides are further: tests do what each of their examples does, and more."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where what is further is left out, modules need not be searched for examples."""
    return ("not further" in config.getoption("markexpr") and is_example(collection_path)) or None


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what has the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the examples."""
    for item in items:
        if is_example(item.path):
            item.add_marker("further")


def is_example(path: Path) -> bool:
    """Whether a file is in a folder of examples."""
    return any(map(path.is_relative_to, EXAMPLES))


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Close the figures of a test: pyplot keeps them, and warns of more than 20."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
