"""Sound bounds of the difference between floating-point and exact answers, as fractions.

Let u = 2**-53, the largest relative error of one float64 operation rounded to nearest. A sum of n
floats takes n - 1 additions, in any order and grouping: left to right, in pairs as numpy does, or
in any other tree. Each record passes through at most n - 1 of them, so the computed sum is ``sum of
x_i (1 + t_i)`` with ``|t_i| <= (1 + u)**(n-1) - 1 <= g``, where ``g = (n-1) u / (1 - (n-1) u)``.
Sums have no underflow error: a sum of floats below the normal range is exact. Hence the error is at
most ``g n M`` when no record exceeds M in absolute value.

The sums of both neighbors can be off by that much, in either direction, so the stability map of the
sum adds twice the error. The term does not depend on the distance: it is also there for d_in = 0,
where the two inputs have the same rows in different orders.

References
----------
Higham, "Accuracy and Stability of Numerical Algorithms" (2002), sections 3.1 and 4.2. Casacuberta,
Shoemate, Vadhan, Wagaman, "Widespread Underestimation of Sensitivity in Differentially Private
Libraries and How to Fix It" (CCS 2022): why the term is needed.
"""

from __future__ import annotations

import sys
from fractions import Fraction

from sensitivity_lab import checks
from sensitivity_lab.checks import check_whole
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import as_fraction

_UNIT = Fraction(1, 2**53)
_LEAST = Fraction(1, 2**1075)
"""Half of the smallest float: the absolute rounding error below the normal range."""


def summation_error(size: int, magnitude: Fraction) -> Fraction:
    """Bound the error of a float64 sum of up to `size` floats of at most `magnitude`.

    Parameters
    ----------
    size : int
        The largest number of records.
    magnitude : Fraction
        The largest absolute value of a record.

    Returns
    -------
    Fraction
        An upper bound of the absolute difference between the computed and the exact sum, for every
        order and grouping of the additions.

    Raises
    ------
    InputError
        If the sum could overflow, or there are too many records for the bound to hold.

    Examples
    --------
    >>> summation_error(1, Fraction(5))
    Fraction(0, 1)
    >>> float(summation_error(1000, Fraction(5)))
    5.545564008003272e-10
    """
    size = check_whole("size", size, "a number of records, at least 0", least=0)
    magnitude = as_fraction(magnitude, "magnitude")
    additions = max(size - 1, 0)
    if additions * _UNIT >= Fraction(1, 2):
        raise InputError(f"the rounding of a sum of {size:,} floats is not bounded; take fewer")
    share = additions * _UNIT / (1 - additions * _UNIT)
    error = share * size * magnitude
    if size * magnitude + error > Fraction(sys.float_info.max):
        raise InputError(
            f"a sum of {size:,} floats of up to {_shown(magnitude)} can be beyond the range of "
            "floats; take closer bounds or fewer records"
        )
    return error


def rounding_error(magnitude: Fraction) -> Fraction:
    """Bound the error of rounding an exact answer of at most `magnitude` to the nearest float.

    Examples
    --------
    >>> rounding_error(Fraction(1)) >= abs(Fraction(1 / 3) - Fraction(1, 3))
    True
    """
    return _UNIT * as_fraction(magnitude, "magnitude") + _LEAST


def _shown(magnitude: Fraction) -> str:
    large = magnitude > Fraction(sys.float_info.max)
    return checks.magnitude(magnitude) if large else f"{float(magnitude):.6g}"
