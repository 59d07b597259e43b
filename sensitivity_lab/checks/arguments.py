"""Checks of arguments that many calls share; none of them raises anything but InputError.

What a caller passes can be anything: arrays that have no truth value, numbers of a million digits,
objects that fail when they are compared or printed. Nothing here compares, prints or converts a
value before its type says that this is safe and quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Sized
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sensitivity_lab.errors import InputError

from .text import names_of, shown, text_of
from .values import as_python, finite_number, is_long, whole_number

_MOST_ITEMS = 2**31
"""Sequences that claim to be longer are not read."""

MOST_UNSIZED = 10_000_000
"""So many items are read of what does not know its length, as a generator, which may be endless."""


_FINITE = (list, tuple, range, dict, set, frozenset, np.ndarray)
"""What has an end, of these very classes: it is listed at once."""


def check_rational(
    name: str, value: Any, accepted: str, text: Callable[[Any], str] = shown
) -> Fraction:
    """Return a finite number as the fraction that it stands for, or raise InputError.

    Parameters
    ----------
    name : str
        What errors call the value.
    value : object
        The argument; truth values are not numbers.
    accepted : str
        What is accepted, such as "a finite number".
    text : callable
        Writes the value into the error message.

    Raises
    ------
    InputError
        If the value is not a finite number, or has too many digits.

    Examples
    --------
    >>> check_rational("scale", 0.5, "a finite number")
    Fraction(1, 2)
    """
    number = finite_number(value)
    if number is None:
        raise InputError(f"{name} must be {accepted}, got {text(value)}")
    return Fraction(number)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, or raise InputError."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return one of the texts to choose from, or raise InputError that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {names_of(choices)}, got {shown(value)}")
    return value


def check_kind(name: str, value: Any, kinds: Any, accepted: str) -> None:
    """Raise InputError unless a value is an instance of one of the classes."""
    if not isinstance(value, kinds):
        raise InputError(f"{name} must be {accepted}, got {shown(value)}")


def check_callable(name: str, value: Any, accepted: str) -> None:
    """Raise InputError unless a value can be called."""
    if not callable(value):
        raise InputError(f"{name} must be {accepted}, got {shown(value)}")


def check_running(n_jobs: Any, progress: Any) -> None:
    """Raise InputError unless `n_jobs` and `progress` are values that `running` takes."""
    jobs = whole_number(n_jobs)
    if n_jobs is not None and not jobs:
        raise InputError(
            "n_jobs must be None or a whole number other than 0 (-1 for all processors), "
            f"got {shown(n_jobs)}"
        )
    if jobs is not None and abs(jobs) > 10_000:
        raise InputError(f"n_jobs must be at most 10,000, got {shown(n_jobs)}")
    if progress is not None and not isinstance(progress, bool | np.bool_):
        raise InputError(f"progress must be None, True or False, got {shown(progress)}")


def check_text(name: str, value: Any, meaning: str) -> str:
    """Return a text, or raise InputError."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be {meaning}, got {shown(value)}")
    return str(value)


def check_whole(name: str, value: Any, meaning: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise InputError."""
    number = whole_number(value)
    if number is None:
        given = as_python(value)
        raise InputError(
            f"{name} must be a whole number ({meaning}), got {shown(given)} "
            f"({type(given).__name__})"
        )
    if number < least:
        raise InputError(f"{name} must be {meaning}, got {shown(number)}")
    if number >= 2**62:
        raise InputError(f"{name} must be below 2**62, got {shown(number)}")
    return number


def check_path(name: str, value: Any) -> Path:
    """Return the path of a file or a folder, or raise InputError.

    Whether there is such a file, only the system can say.
    """
    try:
        path = Path(value)
        os.fsencode(path)  # fails for halves of surrogate pairs that stand for no byte
        good = str(value) != "" and "\0" not in str(path)
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it is no path
        good = False
    if not good:
        raise InputError(f"{name} must be the path of a file or a folder, got {shown(value)}")
    return path


def check_column(name: str, value: Any) -> None:
    """Raise InputError unless a value can be the name of a column."""
    if not is_hashable(value) or is_long(value) or not _has_text(value):
        raise InputError(
            f"{name} must be the name of one column, such as 'age', got {shown(value)}"
        )


def _has_text(value: Any) -> bool:
    """Tell whether a value can be printed."""
    try:
        # Tables cannot hold halves of surrogate pairs.
        return bool((str(value) or repr(value)).encode())
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no text
        return False


def is_hashable(value: Any) -> bool:
    """Tell whether a value can be hashed; a tuple cannot if one of its items cannot."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no hash
        return False
    return True


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
