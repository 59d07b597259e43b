"""What a scale must be."""

from __future__ import annotations

import math
from fractions import Fraction


def is_smallest_float_from(value: float, exact: Fraction) -> bool:
    """No float below `value` is an upper bound of `exact`, and `value` is one."""
    return Fraction(value) >= exact > Fraction(math.nextafter(value, -math.inf))
