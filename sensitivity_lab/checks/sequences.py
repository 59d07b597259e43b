"""Sequences that callers pass, as lists; one that has no end is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from itertools import islice
from typing import Any

import numpy as np

from sensitivity_lab.errors import InputError

from .text import shown, text_of

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
