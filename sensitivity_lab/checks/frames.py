"""Tables and columns of other libraries (Polars, Arrow, ...) as those of pandas, exactly.

Narwhals is the only one who knows these libraries; it is imported where something of theirs comes.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

_OURS = ("builtins", "numpy", "pandas", "sensitivity_lab")
"""Packages whose values need no conversion."""


def as_pandas(given: Any) -> Any:
    """Return a table as a DataFrame and a column as a list, if they are of another library.

    Everything else is returned as it is. Missing values become None, and whole numbers beside them
    stay whole: pandas' own conversion makes floats of them, which have no more than 53 bits.

    Examples
    --------
    >>> as_pandas([1, 2]), as_pandas("text")
    ([1, 2], 'text')
    """
    if type(given).__module__.partition(".")[0] in _OURS:
        return given
    if _is_arrow_array(given):
        return given.to_pylist()
    import narwhals as nw

    try:
        read = nw.from_native(given, pass_through=True, allow_series=True)
        if isinstance(read, nw.LazyFrame):
            read = read.collect()
        if isinstance(read, nw.Series):
            return _values(read)
        if isinstance(read, nw.DataFrame):
            return pd.DataFrame({name: _series(read[name]) for name in read.columns})
    except Exception:  # noqa: BLE001 - the caller's class; what cannot be read is refused by others
        return given
    return given


def _is_arrow_array(given: Any) -> bool:
    """Tell whether a value is an array of Arrow, which Narwhals does not read."""
    return type(given).__module__.startswith("pyarrow") and not hasattr(given, "columns")


def _values(series: Any) -> Any:
    """Return the values of a column: an array where that is lossless, else a list."""
    kind = series.dtype
    narrow = kind.is_integer() and not str(kind).endswith("128")  # numpy has none so wide
    if (narrow or kind.is_float() or str(kind) == "Boolean") and not series.is_null().any():
        return series.to_numpy()
    return series.to_list()


def _series(series: Any) -> pd.Series[Any]:
    values = _values(series)
    return pd.Series(values, dtype=object if isinstance(values, list) else None)
