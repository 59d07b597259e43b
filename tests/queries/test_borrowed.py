"""A caller's function that takes its statistic from another library says so."""

from __future__ import annotations

import functools
import re
import statistics
import sys

import numpy as np
import pandas as pd
import pytest
from paths import ROOT
from scipy import stats

import sensitivity_lab as sl
from sensitivity_lab.queries.given import HEADINGS, LIBRARIES, borrowed

sys.path.insert(0, str(ROOT / "tools"))
from make_whose import STATISTICS, known

sys.path.remove(str(ROOT / "tools"))

PAGE = (ROOT / "docs/reference/whose.md").read_text(encoding="utf-8")
CELLS = [cell for cell in known(STATISTICS)["cells"] if cell["library"] in LIBRARIES.values()]


def helper(x):
    return stats.iqr(x)


def in_sql(_):
    import duckdb

    return duckdb.sql("select stddev(v) from t").fetchone()[0]


def around(inner):
    return lambda x: 2 * inner(x)


FUNCTIONS = {
    "itself": (stats.sem, "SciPy", "standard error of the mean"),
    "a call": (lambda x: pd.Series(x).std(), "pandas", "standard deviation"),
    "two libraries": (lambda x: pd.Series(x).var() + stats.tvar(x), "SciPy, pandas", "variance"),
    "a helper": (lambda x: helper(x), "SciPy", "interquartile range"),
    "a closure": (around(helper), "SciPy", "interquartile range"),
    "a partial": (functools.partial(stats.trim_mean, proportiontocut=0.2), "SciPy", "trimmed mean"),
    "a text of SQL": (in_sql, "DuckDB", "standard deviation"),
    "inside a function": (lambda x: max(pd.Series(y).kurt() for y in [x]), "pandas", "kurtosis"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_library_and_the_heading_are_named(name):
    function, library, heading = FUNCTIONS[name]
    told = borrowed(function)
    assert told.startswith(f"{library}: what it computes")
    assert heading in told.partition("under ")[2].split(", ")


@pytest.mark.parametrize(
    "function", [np.median, statistics.median, lambda x: np.var(x), len, print]
)
def test_other_functions_say_nothing(function):
    assert borrowed(function) == ""


def test_each_heading_is_one_of_the_page():
    for heading in HEADINGS:
        assert f"\n### {heading}\n" in PAGE


def test_the_calls_of_the_page_lead_to_its_headings():
    assert len(CELLS) > 200
    exact = 0
    for cell in CELLS:
        names = [name for name, has in HEADINGS.items() if re.search(has, cell["call"], re.I)]
        exact += cell["statistic"] in names
        assert names, cell
    # The others are written by quantiles, sorting or arithmetic, whose headings are named.
    assert exact > 0.9 * len(CELLS)


def test_a_result_says_it():
    grid = sl.Universe.from_domain([0, 1, 2])
    query = sl.from_function(stats.sem, least_size=2)
    result = sl.global_sensitivity(grid, query, size=3, neighbors="bounded")
    assert "library    SciPy: what it computes there" in str(result)
    local = sl.local_sensitivity(grid, query, dataset=[0, 1, 2], neighbors="bounded")
    assert "library    SciPy" in str(local)
