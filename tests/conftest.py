"""What every test runs under: which cases, Hypothesis profiles, no windows for plots, fixtures."""

from __future__ import annotations

import os
from collections import defaultdict

import matplotlib
import pytest
from command_line import BAD_FILES
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


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what has the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked ``representative(*names)``, leave one case per value of these arguments.

    All other cases are marked `exhaustive`. What is left is another case in each turn, so that the
    arguments that are not named take all their values, too.
    """
    cases: defaultdict[tuple, defaultdict[tuple, list[pytest.Function]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for item in items:
        if marker := item.get_closest_marker("representative"):
            assert isinstance(item, pytest.Function)
            named = tuple(repr(item.callspec.params[name]) for name in marker.args)
            cases[item.path, item.originalname][named].append(item)
    for by_name in cases.values():
        for turn, alike in enumerate(by_name.values()):
            for place, item in enumerate(alike):
                if place != turn % len(alike):
                    item.add_marker("exhaustive")


@pytest.fixture
def no_search(monkeypatch):
    """Make it an error to start any search."""

    def never(*_arguments, **_options):
        raise AssertionError("the search has started")

    for name in (
        "cli.commands.sensitivity_curves",
        "cli.commands.global_sensitivity",
        "article.Experiment.run",
    ):
        monkeypatch.setattr(f"sensitivity_lab.{name}", never)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with the bad files and a folder called ``folder`` in it."""
    for name, content in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
