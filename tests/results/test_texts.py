"""What a result prints of its pair of datasets, and as a formatted number."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sensitivity_lab as sl


def largest(x) -> float:
    return float(x[-1])


def test_repr_shows_what_changes_first_and_shortens_the_core():
    universe = sl.Universe([*range(1000), 5000], [1] * 1000 + [3])
    result = sl.global_sensitivity(universe, "sum", size=500, neighbors=sl.Bounded(3))
    assert repr(result).split("\n")[2:5] == [
        "  only in x  5000 (x3)  f(x) = 139747",
        "  only in y  0, 1, 2    f(y) = 124750",
        "  in both    3, 4, 5, 6, ..., 496, 497, 498, 499; 497 records",
    ]
    assert repr(result.witness).split("\n")[1:] == repr(result).split("\n")[2:5]


def test_repr_of_datasets_with_nothing_in_common():
    domain = sl.Universe.from_domain([0, 1])
    result = sl.global_sensitivity(domain, "sum", size=3000, neighbors=sl.Bounded(3000))
    assert "  only in x  1 (x3,000)  f(x) = 3000\n" in repr(result)
    assert "  only in y  0 (x3,000)  f(y) = 0\n  in both    none\n" in repr(result)


def test_a_result_is_formatted_as_a_number_rounded_up():
    universe = sl.Universe.from_dataset([1, 2, 3, 10])
    result = sl.global_sensitivity(universe, "var", size=3, neighbors=sl.Unbounded(1))
    of_floats = sl.global_sensitivity(universe, largest, size=3, neighbors=sl.Bounded(1))
    assert (
        f"{result:.2f}|{result:>10.1f}|{result:g}|{result:.1%}"
        == "15.98|      16.0|15.9723|1597.3%"
    )
    assert f"{result}" == str(result)
    assert f"{of_floats:.0f}" == "7"
    tenths = sl.Universe.from_domain([Fraction(0), Fraction(71, 10)])
    exact = sl.global_sensitivity(tenths, "max", size=1, neighbors="bounded")
    assert (f"{exact:.1f}", exact.upper > 7.1) == ("7.1", True)
    with pytest.raises(ValueError, match="format"):
        f"{result:d}"
