"""Read the answers of a caller's function as numbers, without rounding.

The type of an array of answers says what they are: int64 and Python objects, all of them ints or
Fractions, are exact; an array that holds any float is of floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import names_of, unboxed
from sensitivity_lab.universes.reading import as_array

Answers = NDArray[Any]
"""Numbers: int64, float64, or Python ints, Fractions and floats where neither holds them all."""

_WHOLE = 2**53
"""Floats hold all whole numbers up to this one."""

_DIGITS = 5000
"""Decimals of a larger exponent, of either sign, are beyond all floats and costly as Fractions."""


_DEPTH = 4
"""At most so many lists are in each other: the answers for several datasets are two."""


class NoNumbersError(ValueError):
    """A function returned neither a number nor an array of them; the text may say what to do."""


def numbers_of(returned: Any, inside: tuple[Any, ...] = ()) -> Answers:
    """Return what a function returned as an array of numbers, of its own shape.

    Parameters
    ----------
    returned : object
        A number, an array, or a list of such.
    inside : tuple of lists
        In which lists it is.

    Raises
    ------
    NoNumbersError
        If it is anything but finite numbers, or masked, or a result with several named fields.

    Examples
    --------
    >>> numbers_of(2**60 + 1), numbers_of([True, Fraction(1, 2)])
    (array(1152921504606846977), array([1, Fraction(1, 2)], dtype=object))
    """
    if np.ma.is_masked(returned):
        raise NoNumbersError(
            "a masked entry is not a number, so fill it with one, for example with .filled(0)"
        )
    fields = getattr(returned, "_fields", ())
    if isinstance(returned, tuple) and fields:
        raise NoNumbersError(
            f"its fields are {names_of(fields)}: return the one that is released, as in "
            f"result.{fields[0]}, or a list of several"
        )
    if isinstance(returned, (list, tuple)):
        return _stacked(returned, (*inside, returned))
    if isinstance(returned, (str, bytes)):
        raise NoNumbersError
    try:
        array = np.asarray(returned)
    except Exception:  # noqa: BLE001 - a caller's class, asked to become an array
        raise NoNumbersError from None
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        if not np.isfinite(array).all():
            raise NoNumbersError
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "biu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    if array.dtype.kind not in "bfuO":
        raise NoNumbersError
    return as_array([_number(one) for one in array.ravel()]).reshape(array.shape)


def _stacked(returned: Sequence[Any], inside: tuple[Any, ...]) -> Answers:
    """Return the numbers of a list, which is the last of the lists it is in."""
    if len(inside) > _DEPTH or any(returned is one for one in inside[:-1]):
        raise NoNumbersError  # too deep, or without end
    parts = alike([numbers_of(one, inside) for one in returned])
    if len({part.shape for part in parts}) != 1:
        raise NoNumbersError
    return np.stack(parts)


def alike(parts: Sequence[Answers]) -> list[Answers]:
    """Return arrays in one type, which holds the numbers of all of them.

    Examples
    --------
    >>> [part.dtype.name for part in alike([np.array([1]), np.array([0.5])])]
    ['float64', 'float64']
    >>> [part.dtype.name for part in alike([np.array([2**60 + 1]), np.array([0.5])])]
    ['object', 'object']
    """
    if len({part.dtype for part in parts}) <= 1:
        return list(parts)
    if all(part.dtype == np.float64 or _in_floats(part) for part in parts):
        return [part.astype(np.float64, copy=False) for part in parts]
    return [part.astype(object) for part in parts]


def are_exact(answers: Answers) -> bool:
    """Tell whether no answer is a float."""
    if answers.dtype == object:
        return all(isinstance(one, (int, Fraction)) for one in answers.ravel())
    return answers.dtype.kind in "iu"


def shape_of(returned: Any) -> tuple[int, ...] | None:
    """Return the shape of what was returned; None if it has none, as [1, [2]]."""
    try:
        return tuple(np.shape(returned))
    except ValueError:
        return None


def _in_floats(answers: Answers) -> bool:
    """Tell whether answers are whole numbers that floats hold."""
    return answers.dtype == np.int64 and bool((np.abs(answers) <= _WHOLE).all())


def _number(given: Any) -> Any:
    """Return one number as an int, a Fraction or a float; a longdouble stays one if it must."""
    given = unboxed(given)
    if isinstance(given, (str, bytes)):
        raise NoNumbersError
    try:
        close = float(given)
    except Exception:  # noqa: BLE001 - anything that is not a real number, or beyond floats
        raise NoNumbersError from None
    if not math.isfinite(close):
        raise NoNumbersError
    if isinstance(given, (int, np.longdouble)):
        return int(given) if isinstance(given, int) else close if close == given else given
    if isinstance(given, Decimal):
        if given and given.adjusted() < -_DIGITS:
            raise NoNumbersError
        return Fraction(given)
    return given if isinstance(given, Fraction) else close
