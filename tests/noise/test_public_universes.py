"""Noise scaled to a result over listed records: a warning, and when there is none."""

from __future__ import annotations

import pandas as pd
import pytest

import sensitivity_lab as sl

AGES = [20, 30, 30, 30, 40]
FRAME = pd.DataFrame({"age": AGES, "sex": list("fmfmf")})
WARNING = (
    "{name}: the universe is a list of records (Universe.from_dataset, or a column), so the "
    "sensitivity holds only among datasets drawn from these records; if your records are "
    "private, noise scaled this way does not protect them.{zero} For private data, compute the "
    "sensitivity over what a record can be, {domain}; if the records are public, pass "
    "public_universe=True"
)
NUMBERS = "Universe.from_domain(values) or Universe.from_interval(lower, upper)"


def ask(universe, query="mean", **options):
    return sl.global_sensitivity(universe, query, size=3, neighbors=sl.Bounded(1), **options)


def smooth(universe, beta=0.01):
    return sl.smooth_sensitivity(
        universe, "mean", dataset=[30, 30, 40], beta=beta, neighbors="bounded"
    )


CALLS = {
    "laplace_scale": lambda universe, **o: sl.noise.laplace_scale(ask(universe), 1, **o),
    "gaussian_scale": lambda universe, **o: sl.noise.gaussian_scale(ask(universe), 1, **o),
    "analytic_gaussian_scale": lambda universe, **o: sl.noise.analytic_gaussian_scale(
        ask(universe), 1, 1e-5, **o
    ),
    "laplace_epsilon": lambda universe, **o: sl.noise.laplace_epsilon(ask(universe), 1, **o),
    "gaussian_rho": lambda universe, **o: sl.noise.gaussian_rho(ask(universe), 1, **o),
    "noise_table": lambda universe, **o: sl.noise.noise_table({"a": ask(universe)}, epsilon=1, **o),
    "smooth_laplace_scale": lambda universe, **o: sl.noise.smooth_laplace_scale(
        smooth(universe), 1, 1e-6, **o
    ),
    "smooth_cauchy_scale": lambda universe, **o: sl.noise.smooth_cauchy_scale(
        smooth(universe), 1, **o
    ),
}
"""Every call that scales noise to a result."""

NAMES = {"noise_table": "results['a']"} | {
    **dict.fromkeys(("laplace_epsilon", "gaussian_rho"), "d_in"),
    **dict.fromkeys(("smooth_laplace_scale", "smooth_cauchy_scale"), "result"),
}


@pytest.mark.parametrize("call", CALLS)
def test_every_call_warns_of_a_dataset_in_the_line_that_made_it(call):
    with pytest.warns(sl.errors.DatasetUniverseWarning) as caught:
        CALLS[call](sl.Universe.from_dataset(AGES))
    [warning] = caught
    assert str(warning.message) == WARNING.format(
        name=NAMES.get(call, "sensitivity"), zero="", domain=NUMBERS
    )
    assert warning.filename == __file__


LISTED = {
    "list": AGES,
    "column": FRAME["age"],
    "values": sl.Universe([20, 30, 40, 50]),
    "counts": sl.Universe([20, 30, 40], [1, 3, 1]),
    "clipped": sl.Universe.from_dataset(AGES).clipped(25, 35),
    "column of a table": sl.TableUniverse.from_dataset(FRAME).column("age"),
}
DECLARED = {
    "interval": sl.Universe.from_interval(0, 100),
    "unlimited": sl.Universe.from_domain([20, 30]),
    "copies": sl.Universe.from_domain([20, 30], copies=3),
    "clipped": sl.Universe.from_domain([20, 30], copies=4).clipped(25, 35),
    "column of a domain": sl.TableUniverse.from_domain(
        {"age": [20, 30], "sex": ["f", "m"]}, copies=2
    ).column("age"),
}


@pytest.mark.parametrize("made", LISTED)
def test_records_that_are_listed_may_be_data(made):
    with pytest.warns(sl.errors.DatasetUniverseWarning, match="list of records"):
        sl.noise.laplace_scale(ask(LISTED[made]), 1)


@pytest.mark.parametrize("made", DECLARED)
def test_a_declared_domain_is_none(made):
    assert sl.noise.laplace_scale(ask(DECLARED[made]), 1) >= 0


def test_the_warning_says_what_a_sensitivity_of_0_means():
    none = ask(sl.Universe.from_dataset(AGES), "median")
    with pytest.warns(sl.errors.DatasetUniverseWarning) as caught:
        assert sl.noise.laplace_scale(none, 1) == 0
    assert str(caught[0].message) == WARNING.format(
        name="sensitivity",
        zero=" The sensitivity of median is 0 there, which means no noise at all.",
        domain=NUMBERS,
    )


def test_a_table_has_one_warning_for_all_results():
    results = {
        "data": ask(sl.Universe.from_dataset(AGES)),
        "domain": ask(sl.Universe.from_domain([20, 40])),
        "number": 3,
        "more": ask(AGES, "sum"),
    }
    with pytest.warns(sl.errors.DatasetUniverseWarning) as caught:
        sl.noise.noise_table(results, epsilon=1)
    [warning] = caught
    assert str(warning.message) == WARNING.format(
        name="results['data'], results['more']", zero="", domain=NUMBERS
    )
    rows = ask(sl.TableUniverse.from_dataset(FRAME), sl.Histogram("sex", categories=["f", "m"]))
    with pytest.warns(sl.errors.DatasetUniverseWarning) as caught:
        sl.noise.laplace_scale(rows, 1)
    assert "TableUniverse.from_domain(values); if" in str(caught[0].message)
