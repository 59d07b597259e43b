"""What every test runs under: which cases, Hypothesis profiles, no windows for plots, fixtures."""

from __future__ import annotations

import gc
import math
import os
from collections import defaultdict
from collections.abc import Iterable

import pytest
from doses import places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Problems on which a query is undefined are left out, and a busy machine is slow: neither says
# anything about the code. What is drawn varies with the constants that Hypothesis finds in modules.
calm = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.filter_too_much, HealthCheck.too_slow],
}
if os.environ.get("CI"):  # the same examples in each run, and what it takes to repeat a failure
    calm |= {"derandomize": True, "database": None, "print_blob": True}
settings.register_profile("everyday", max_examples=2, **calm)
settings.register_profile("thorough", max_examples=3, **calm)


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples where what is exhaustive is left out, too: in `make test`, but for CI."""
    places["stress"] = "not stress" not in config.getoption("markexpr")
    everyday = "not exhaustive" in config.getoption("markexpr") and not os.environ.get("CI")
    settings.load_profile("everyday" if everyday else "thorough")


# What is made while tests are collected stays; see pytest_collection_finish.
gc.disable()


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what has the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases of a test by where they run, another one in each turn.

    Of a test marked ``representative(*names)``, one case per value of these arguments stays; with
    ``quick=names``, one per value of those is for `make test`, and what else stays is `further`. Of
    the other cases, `make check` runs every eighth one and `make stress` the rest; those of an
    `exhaustive` test are all left to `make stress`. Of any other test, an eighth of the cases
    stays, another eighth is `further`, for `make check`, and the rest for `make stress`; of an
    `exhaustive` test, an eighth stays. Since what stays is another case in each turn, the arguments
    that are not named take all their values, too.
    """
    cases: defaultdict[tuple, defaultdict[tuple, list[pytest.Function]]] = defaultdict(
        lambda: defaultdict(list)
    )
    plain: defaultdict[tuple, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("representative"):
            assert isinstance(item, pytest.Function)
            named = tuple(repr(item.callspec.params[name]) for name in marker.args)
            cases[item.path, item.originalname][named].append(item)
        elif hasattr(item, "callspec") and (later := left_to(item)):
            plain[later, item.path, item.originalname].append(item)
    for by_name in cases.values():
        mark_further(by_name.values())
        for turn, alike in enumerate(by_name.values()):
            for after, item in others(alike, turn):
                later = item.get_closest_marker("exhaustive") or (turn + after) % 8
                item.add_marker("stress" if later else "exhaustive")
    for turn, ((later, *_), alike) in enumerate(plain.items()):
        for after, item in others(alike, turn):
            if marker := TURNS[later][after % len(TURNS[later])]:
                item.add_marker(marker)


TURNS = {
    "further": ("", "further", *["stress"] * 6),
    "stress": ("", *["stress"] * 7),
}
"""What the cases of a test are marked with, one after the other."""


def mark_further(by_name: Iterable[list[pytest.Function]]) -> None:
    """Of the cases that stay, mark all but one per value of the arguments that are `quick`."""
    stay: defaultdict[tuple, list[pytest.Function]] = defaultdict(list)
    for turn, alike in enumerate(by_name):
        item = alike[turn % len(alike)]
        quick = item.get_closest_marker("representative").kwargs.get("quick")
        if quick is not None and not any(map(item.get_closest_marker, ("exhaustive", "stress"))):
            stay[tuple(repr(item.callspec.params[name]) for name in quick)].append(item)
    for turn, alike in enumerate(stay.values()):
        for _, item in others(alike, turn):
            item.add_marker("further")


def left_to(item: pytest.Item) -> str | None:
    """The marker of most of a test's cases; None if all of them run where the test does."""
    if any(map(item.get_closest_marker, ("stress", "notebooks", "browser"))):
        return None
    if not item.get_closest_marker("exhaustive"):
        return "further"
    return "stress"


def others(alike: list[pytest.Function], turn: int) -> list[tuple[int, pytest.Function]]:
    """The cases but the one whose turn it is, numbered from there on, round to the one before."""
    first = turn % len(alike)
    return list(enumerate([*alike[first + 1 :], *alike[:first]], 1))


def pytest_collection_finish() -> None:
    """Collect garbage from here on, but do not look at thousands of tests again and again."""
    # At its first example Hypothesis looks for what refers to its random numbers, and warns where
    # nothing does: what is frozen is not found. So let the first example run before.
    given(st.none())(lambda _: None)()
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def no_search(monkeypatch):
    """Make it an error to start any search, or to publish."""

    def never(*_arguments, **_options):
        raise AssertionError("the work has started")

    for name in (
        "article.Experiment.run",
        "releases.Plan.publish",
    ):
        monkeypatch.setattr(f"sensitivity_lab.{name}", never)


@pytest.fixture
def opendp_features():
    """Constructors of OpenDP need "contrib", those of Python functions "honest-but-curious"."""
    dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


@pytest.fixture
def few_calls(monkeypatch, request):
    """Deterministic transformations are not asked for random answers so often."""
    if "randomised" not in request.node.name:
        monkeypatch.setattr("sensitivity_lab.audits.maps.PROBES", 8)
        monkeypatch.setattr("sensitivity_lab.audits.maps.WITNESS", 2)


@pytest.fixture
def few_histories(monkeypatch):
    """A replay draws a twentieth of the histories, which test functions need not."""
    monkeypatch.setattr("sensitivity_lab.audits.replay._RUNS", 200)


@pytest.fixture
def few_runs(monkeypatch, request):
    """Where an audit knows no law, it has few runs, or as many as the marker says, and no clock.

    What is left to `make stress` runs as long as for a user.
    """
    from sensitivity_lab.audits.driven.refuter import refute

    if not request.node.get_closest_marker("stress"):
        marker = request.node.get_closest_marker("runs_of_refuter")
        most = 6000 if request.node.get_closest_marker("exhaustive") else 1000
        monkeypatch.setitem(refute.__kwdefaults__, "runs", marker.args[0] if marker else most)
        monkeypatch.setitem(refute.__kwdefaults__, "seconds", math.inf)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with the bad files and a folder called ``folder`` in it."""
    from command_line import BAD_FILES  # here: it imports the package, which only workers need

    for name, content in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
