"""How each library takes data, and how a call of the page becomes a function of a dataset."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = {
    "NumPy": "numpy",
    "pandas": "pandas",
    "Polars": "polars",
    "Arrow": "pyarrow",
    "DuckDB": "duckdb",
    "SQLite": "apsw",
    "Dask": "dask",
    "SciPy": "scipy",
    "statsmodels": "statsmodels",
    "scikit-learn": "scikit-learn",
    "astropy": "astropy",
    "ddsketch": "ddsketch",
    "tdigest": "tdigest",
    "crick": "crick",
    "datasketches": "datasketches",
}
"""The package on PyPI of each library; APSW brings the newest SQLite, with percentiles."""

PINS = {
    "numpy": "2.4.6",
    "pandas": "3.1.1",
    "polars": "1.36.1",
    "pyarrow": "26.0.1",
    "duckdb": "2.0.1",
    "apsw": "3.54.1.0",
    "dask": "2026.8.0",
    "scipy": "1.17.1",
    "statsmodels": "0.15.0",
    "scikit-learn": "1.8.0",
    "astropy": "8.0.2",
    "ddsketch": "3.0.1",
    "tdigest": "0.5.2.2",
    "crick": "0.0.8",
    "datasketches": "5.2.0",
}

CHUNKED = {"Polars", "Arrow", "Dask"}
"""Libraries whose data come in chunks that a caller chooses."""

Function = Callable[[Sequence[float], int], float | None]
"""From records in order and the length of a chunk to the answer; None is no answer."""


def installed() -> set[str]:
    """Return the libraries that are here at the pinned version."""
    found = set()
    for library, package in PACKAGES.items():
        try:
            if version(package) == PINS[package]:
                found.add(library)
        except PackageNotFoundError:
            continue
    return found


def function_of(library: str, call: str) -> Function:
    """Return the function that a call of the page is."""
    if library in ("DuckDB", "SQLite"):
        run = _in_duckdb if library == "DuckDB" else _in_sqlite
        return lambda values, _: _number(run(call, list(values)))
    if library in ("ddsketch", "tdigest", "crick", "datasketches"):
        return lambda values, _: _number(_sketched(library, call, values))
    code = compile(call, call, "eval")
    names = _names(library)

    def answer(values: Sequence[float], chunk: int) -> float | None:
        return _number(eval(code, names | _data(library, values, chunk)))

    return answer


def _number(given: Any) -> float | None:
    """Return an answer as a float; None where there is none."""
    for method in ("compute", "as_py", "item"):
        if hasattr(given, method):
            given = getattr(given, method)()
    if isinstance(given, list | tuple) or getattr(given, "shape", None) == (1,):
        (given,) = given
    return None if given is None else float(given)


def _data(library: str, values: Sequence[float], chunk: int) -> dict[str, Any]:
    """Return the data as the library takes them, under the names that calls use."""
    import numpy as np

    array = np.array(values, dtype=np.float64)
    pieces = [array[start : start + chunk] for start in range(0, len(array), chunk)] or [array]
    if library == "pandas":
        import pandas as pd

        return {"x": pd.Series(array)}
    if library == "Polars":
        import polars as pl

        return {"x": pl.concat([pl.Series("v", piece) for piece in pieces], rechunk=False)}
    if library == "Arrow":
        import pyarrow as pa

        return {"x": pa.chunked_array([pa.array(piece) for piece in pieces], pa.float64())}
    if library == "Dask":
        import dask.array as da
        import dask.dataframe as dd
        import pandas as pd

        frame = dd.from_pandas(pd.Series(array), chunksize=max(chunk, 1), sort=False)
        return {"x": da.from_array(array, chunks=max(chunk, 1)), "frame": frame}
    places = np.arange(len(array))
    return {
        "x": array,
        "column": array[:, None],
        "ones": np.ones(len(array)),
        "places": places[:, None],
        "line": np.column_stack([np.ones(len(array)), places]),
    }


@cache
def _names(library: str) -> dict[str, Any]:
    """Return the names of a library that calls use."""
    import numpy as np

    names: dict[str, Any] = {"np": np}
    if library == "Polars":
        import polars as pl

        names["pl"] = pl
    elif library == "Arrow":
        import pyarrow.compute as pc

        names["pc"] = pc
    elif library == "Dask":
        import dask
        import dask.array as da
        import dask.array.stats as da_stats

        dask.config.set(scheduler="synchronous")
        names |= {"da": da, "da_stats": da_stats}
    elif library == "SciPy":
        from scipy import ndimage, stats

        names |= {"stats": stats, "ndimage": ndimage}
    elif library == "statsmodels":
        from statsmodels.regression.quantile_regression import QuantReg
        from statsmodels.robust import scale
        from statsmodels.robust.robust_linear_model import RLM
        from statsmodels.stats import stattools
        from statsmodels.stats.descriptivestats import describe
        from statsmodels.stats.robust_compare import TrimmedMean
        from statsmodels.stats.weightstats import DescrStatsW

        names |= {name: getattr(stattools, name) for name in _STATTOOLS}
        names |= {"describe": describe, "scale": scale, "RLM": RLM, "QuantReg": QuantReg}
        names |= {"TrimmedMean": TrimmedMean, "DescrStatsW": DescrStatsW}
    elif library == "scikit-learn":
        from sklearn import (
            covariance,
            decomposition,
            dummy,
            feature_selection,
            impute,
            linear_model,
            metrics,
            preprocessing,
        )

        for module in (
            *(covariance, decomposition, dummy, feature_selection, impute),
            *(linear_model, preprocessing),
        ):
            names |= {name: one for name, one in vars(module).items() if name[0].isupper()}
        names["median_absolute_error"] = metrics.median_absolute_error
    elif library == "astropy":
        import astropy.stats

        names |= {name: getattr(astropy.stats, name) for name in astropy.stats.__all__}
    return names


_STATTOOLS = ("medcouple", "robust_skewness", "robust_kurtosis")


@cache
def _duckdb() -> Any:
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 1")
    return database


def _in_duckdb(call: str, values: list[float]) -> Any:
    rows = "SELECT unnest($1::DOUBLE[]) AS v, generate_subscripts($1::DOUBLE[], 1) AS place"
    return _duckdb().execute(f"SELECT {call} FROM ({rows})", [values]).fetchone()[0]


@cache
def _sqlite() -> Any:
    import apsw

    return apsw.Connection(":memory:")


def _in_sqlite(call: str, values: list[float]) -> Any:
    text = f"SELECT {call} FROM (SELECT value AS v FROM json_each(?))"
    return next(_sqlite().execute(text, (json.dumps(values),)))[0]


def _sketched(library: str, call: str, values: Sequence[float]) -> Any:
    """Return the median of a sketch that has seen the records one by one."""
    if library == "ddsketch":
        from ddsketch import ddsketch

        sketch = eval(call, vars(ddsketch))
        for value in values:
            sketch.add(value)
        return sketch.get_quantile_value(0.5)
    if library == "tdigest":
        from tdigest import TDigest

        sketch = TDigest()
        for value in values:
            sketch.update(value)
        return sketch.percentile(50)
    if library == "crick":
        import crick

        sketch = eval(call, {"crick": crick})
        for value in values:
            sketch.add(value)
        return sketch.quantile(0.5)
    import datasketches

    sketch = eval(call, vars(datasketches))
    for value in values:
        sketch.update(value)
    return sketch.get_quantile(0.5)


def quietly(function: Function, values: Sequence[float], chunk: int) -> tuple[float | None, str]:
    """Return the answer, or None and what came instead of one."""
    import numpy as np

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            answer = function(values, chunk)
        except Exception as error:  # noqa: BLE001 - what a library raises is a cell
            return None, type(error).__name__
    if answer is None:
        return None, "None"
    if answer != answer:
        return None, "NaN"
    return answer, ""


__all__ = ["CHUNKED", "PACKAGES", "PINS", "Function", "function_of", "installed", "quietly"]
