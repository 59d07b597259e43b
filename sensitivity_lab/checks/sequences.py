"""Sequences, tables and columns that callers pass, as lists and as those of pandas, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks.text import shown, text_of
from sensitivity_lab.errors import InputError

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


_MOST_ITEMS = 2**31
"""Sequences that claim to be longer are not read."""

MOST_UNSIZED = 10_000_000
"""So many items are read of what does not know its length, as a generator, which may be endless."""


_FINITE = (list, tuple, range, dict, set, frozenset, np.ndarray)
"""What has an end, of these very classes: it is listed at once."""


def one_or_several(values: Any, wrong: str) -> list[Any]:
    """Return the items of a sequence or an iterable, or a single value as the only item.

    Examples
    --------
    >>> one_or_several(3, "sizes"), one_or_several((3, 4), "sizes"), one_or_several("ab", "sizes")
    ([3], [3, 4], ['ab'])
    """
    single = isinstance(values, str | bytes) or not isinstance(values, Iterable)
    single = single or getattr(values, "shape", None) == ()  # an array of a single number
    return [values] if single else listed(values, wrong)


def listed(values: Any, wrong: str, *, text: bool = False) -> list[Any]:
    """Return the items of a sequence or an iterable as a list.

    Parameters
    ----------
    values : object
        The argument; texts and single values are not sequences.
    wrong : str
        The beginning of the message, such as "bins must be a sequence"; the value is added.
    text : bool, default False
        Whether a text counts as the list of its characters.

    Raises
    ------
    InputError
        If the argument is not iterable, claims to be too long, raises when it is read, or does not
        know its length and has more than `MOST_UNSIZED` items, as one without an end has.
    """
    is_text = isinstance(values, str | bytes) and not text
    if is_text or not isinstance(values, Iterable):
        raise InputError(f"{wrong}, got {shown(values)}")
    try:
        if isinstance(values, range) and len(values) > _MOST_ITEMS:
            raise OverflowError
        if type(values) in _FINITE:
            return list(values)
        known = len(values) if isinstance(values, Sized) else 0
        items = list(islice(values, max(known, MOST_UNSIZED) + 1))
    except (OverflowError, MemoryError):
        raise InputError(f"{wrong}; these are too many: {shown(values)}") from None
    except Exception as error:
        raise InputError(
            f"{wrong}, got {shown(values)}, which raised {type(error).__name__}: {text_of(error)}"
        ) from error
    if len(items) > max(known, MOST_UNSIZED):
        raise InputError(
            f"{wrong}, got more than {MOST_UNSIZED:,} items of {shown(values)}, which may have no "
            "end; give a list or an array"
        )
    return items
