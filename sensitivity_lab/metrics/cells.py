"""When two cells are equal: functions that give equal cells equal keys, which can be hashed.

A metric on records uses one of them. They differ in what they distinguish:

=================  ===============  ======  =========  ========  =========  =========
key                used by          1, 1.0  0.0, -0.0  NaN, NaN  NaN, None  [1], (1,)
=================  ===============  ======  =========  ========  =========  =========
`encoding.encode`  pipelines        equal   equal      equal     equal      differ
`signed_key`       audits           equal   differ     equal     differ     equal
`key_of`           answers          equal   equal      equal     differ     equal
`table_key`        table universes  equal   equal      equal     equal      differ
=================  ===============  ======  =========  ========  =========  =========
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import as_python, unboxed

Cells = Callable[[Any], Hashable]
"""A key of cells, and of records, which hold cells: equal for equal ones only."""

_NAN = ("not a number",)
"""The key of NaN, which does not equal itself."""

_MINUS_ZERO = ("minus zero",)
"""The key of -0.0, which Python says is equal to 0.0."""


def key_of(item: Any) -> Hashable:
    """Return the key of an item; equal items have equal keys, and so have any two NaN.

    Examples
    --------
    >>> key_of([1, 0.0]) == key_of((True, -0.0)), key_of(math.nan) == key_of(float("nan"))
    (True, True)
    """
    if isinstance(item, Mapping):
        return frozenset((key_of(name), key_of(value)) for name, value in item.items())
    if isinstance(item, list | tuple | np.ndarray):
        return tuple(key_of(entry) for entry in item)
    return item if item == item else _NAN


def signed_key(item: Any) -> Hashable:
    """Return the key of an item, as `key_of` does; those of 0.0 and -0.0 differ.

    A function may distinguish the two zeros, so a library may count them as two records. As records
    they differ here, so no pair counts as close that a library treats as far apart.

    Examples
    --------
    >>> signed_key(0.0) == signed_key(-0.0), signed_key([[0.0]]) == signed_key([[-0.0]])
    (False, False)
    """
    if type(item) is int or type(item) is str:  # the usual types first
        return item
    if isinstance(item, Mapping):
        return frozenset((key_of(name), signed_key(value)) for name, value in item.items())
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, list | tuple):
        return tuple(map(signed_key, item))
    number = unboxed(item)
    if isinstance(number, float) and not number and math.copysign(1, number) < 0:
        return _MINUS_ZERO
    return key_of(number)


def multiset(item: Sequence[Any]) -> Counter[Hashable]:
    """Return how often each entry occurs in a sequence, by `key_of`.

    Examples
    --------
    >>> multiset([1, True, 2]) == {1: 2, 2: 1}
    True
    """
    try:
        counted = Counter(item)
    except TypeError:  # entries that are lists
        return Counter(map(key_of, item))
    merged: Counter[Hashable] = Counter()
    for entry, number in counted.items():
        merged[key_of(entry)] += number
    return merged


def table_key(value: Any) -> Any:
    """Return a value as the columns of a `TableUniverse` hold it; None if it is missing.

    Numbers are Python's, points and spans of time those of pandas. What cannot be hashed stays.

    Examples
    --------
    >>> table_key(np.int8(3)), table_key(math.nan), table_key(np.datetime64("2020-01-01"))
    (3, None, Timestamp('2020-01-01 00:00:00'))
    """
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    elif isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    return None if pd.isna(value) is True else as_python(value)


def kind_of(value: Any) -> str | None:
    """Return the kind of a value; values of two kinds are never equal. None says "any".

    Examples
    --------
    >>> kind_of(True), kind_of(0.5), kind_of("0.5"), kind_of((1, 2))
    ('numbers', 'numbers', 'texts', None)
    >>> kind_of(pd.Timestamp("2020-01-01")), kind_of(datetime.date(2020, 1, 1))
    ('timestamps', 'dates')
    """
    if isinstance(value, str):
        return "texts"
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return "spans of time"
    if isinstance(value, numbers.Number | np.bool_):
        return "numbers"
    if isinstance(value, datetime.datetime):
        return "timestamps" if value.tzinfo is None else "timestamps with a time zone"
    return "dates" if isinstance(value, datetime.date) else None
