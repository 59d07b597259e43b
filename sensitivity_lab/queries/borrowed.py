"""Which other library's statistic a caller's function is, or calls: its name says too little."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

LIBRARIES = {
    "astropy": "astropy",
    "crick": "crick",
    "dask": "Dask",
    "datasketches": "datasketches",
    "ddsketch": "ddsketch",
    "duckdb": "DuckDB",
    "pandas": "pandas",
    "polars": "Polars",
    "pyarrow": "Arrow",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "sqlite3": "SQLite",
    "statsmodels": "statsmodels",
    "tdigest": "tdigest",
}
"""The libraries of docs/reference/whose.md, by their modules; NumPy's names are ours."""

HEADINGS = {
    "trimmed mean": r"trim",
    "winsorized mean": r"winsor|clip\b",
    "standard error of the mean": r"sem\b|std_?err|stde\b|std_mean|jackknife|bootstrap",
    "median absolute deviation": r"mad\b|mad_std|median_abs|qn_scale",
    "interquartile range": r"iqr|idealfourths|RobustScaler",
    "median of a quantile sketch": r"sketch|tdigest|approx|reservoir",
    "slope against the place of the record": r"slope|linregress|Regressor|RLM|QuantReg",
    "distinct values": r"n_?unique|distinct|\bunique",
    "skewness": r"skew|medcouple",
    "kurtosis": r"kurt",
    "mode": r"mode\b|value_counts|most_frequent|DummyClassifier",
    "standard deviation": r"std|standard|variation|biweight_scale|sigma_clipped",
    "variance": r"var|cov|kstat|moment|PCA",
    "smallest and largest": r"max\b|min\b|ptp|range\b|MinMaxScaler|MaxAbsScaler",
    "90th percentile": r"quantile|percentile|tdigest|describe\b",
    "median": r"median|sigma_clipped|center_",
    "mean": r"mean|avg|average|expectile|biweight_location|sigma_clipped|Dummy",
}
"""The headings of that page, each with what names of its calls have in them."""

_MOST = 3


def borrowed(function: Callable[..., Any]) -> str:
    """Return which library a function takes its statistic from, and where to read about it.

    Its names and texts are looked at, and those of functions of its package that it calls; nothing
    is run.
    """
    libraries, words = set[str](), set[str]()
    own = _root(getattr(function, "func", function))  # of a partial, as below
    seen, left = set[int](), [function]
    while left:
        one = left.pop()
        one = getattr(one, "func", one)
        if id(one) in seen:
            continue
        seen.add(id(one))
        root = _root(one)
        if root in LIBRARIES:
            libraries.add(LIBRARIES[root])
            words.add(str(getattr(one, "__name__", "")))
        elif root == own and inspect.isfunction(told := inspect.unwrap(one)):
            for code in _codes(told.__code__):
                names = {name for name in code.co_names if name in told.__globals__}
                left += [told.__globals__[name] for name in sorted(names)]
                texts = [text for text in code.co_consts if isinstance(text, str)]
                words |= {*code.co_names, *texts} - names
                # Modules that the function imports itself.
                roots = {name.partition(".")[0] for name in code.co_names}
                libraries |= {LIBRARIES[name] for name in roots & set(LIBRARIES)}
            left += inspect.getclosurevars(told).nonlocals.values()
    if not libraries:
        return ""
    given = " ".join(sorted(words))
    headings = [name for name, has in HEADINGS.items() if re.search(has, given, re.I)][:_MOST]
    under = f", under {', '.join(headings)}" if headings else ""
    return (
        f"{', '.join(sorted(libraries))}: what it computes there, and how far that moves, is in "
        f"docs/reference/whose.md{under}"
    )


def _root(one: Any) -> str:
    """Return the package that a module, or something of one, is in."""
    of = one.__name__ if inspect.ismodule(one) else str(getattr(one, "__module__", ""))
    return of.partition(".")[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Return the code of a function, and of those inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)
