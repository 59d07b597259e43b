"""The answers of code, as exact numbers that are compared and subtracted without rounding.

An answer is a Python int, float or Fraction. Floats are rationals, so the difference of two of them
is a Fraction; it is never taken in floating point. Answers that are not finite numbers are of the
classes +inf, -inf and NaN: two answers of one such class are equal, two answers of different
classes (finite numbers being one) are infinitely far apart. See docs/proofs.md,
"The distance of two answers".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import is_finite, shown, unboxed
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Integers, common_integers, rational_of

CodeAnswer = int | float | Fraction
"""What code answers on one ordered dataset, without loss; floats may be infinite or NaN."""

_FINITE, _PLUS, _MINUS, _NAN = range(4)


def as_answer(raw: Any, where: str) -> CodeAnswer:
    """Return what code returned as a Python number without loss; `where` begins the error."""
    given = unboxed(raw)
    if isinstance(given, (bool, int, np.bool_)):
        return int(given)
    if isinstance(given, float):
        return float(given)
    if isinstance(given, (Fraction, Decimal, np.longdouble)):
        if isinstance(given, Fraction) or math.isfinite(given):
            return rational_of(given)
        return float(given)
    raise QueryError(f"{where} returned {shown(given)}; an implementation returns one number")


def class_of(answer: CodeAnswer) -> int:
    """Return whether an answer is finite (0), +inf (1), -inf (2) or NaN (3)."""
    if is_finite(answer):
        return _FINITE
    return _NAN if math.isnan(answer) else _PLUS if answer > 0 else _MINUS


def gap_between(first: CodeAnswer, second: CodeAnswer) -> Fraction | None:
    """Return how far apart two answers are, exactly; None if infinitely far.

    Examples
    --------
    >>> gap_between(0.5, 2), gap_between(math.inf, 2), gap_between(math.nan, math.nan)
    (Fraction(3, 2), None, Fraction(0, 1))
    """
    if class_of(first) != class_of(second):
        return None
    if class_of(first) != _FINITE:
        return Fraction(0)
    return abs(Fraction(first) - Fraction(second))


def scales(answers: Sequence[CodeAnswer]) -> Iterator[Integers]:
    """Yield the positions of answers on scales of integers, the weightiest scale first.

    A pair that differs on the scale of classes is infinitely far apart. Only if no pair does, the
    scale of values decides. There, answers that are not finite are at 0: they are compared only
    with answers of the same class.

    Yields
    ------
    ndarray of Python ints, shape (answers,)
    """
    classes = np.array([class_of(answer) for answer in answers], dtype=object)
    if classes.any():
        yield classes
    finite = [0 if kind else answer for kind, answer in zip(classes, answers, strict=True)]
    yield common_integers(finite)[0]


def ranked(positions: Integers) -> tuple[Integers, NDArray[np.intp]]:
    """Return the distinct positions, ascending, and the place of every position among them."""
    distinct, places = np.unique(positions, return_inverse=True)
    return distinct, places.reshape(-1)
