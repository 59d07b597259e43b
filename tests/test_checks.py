"""Numbers of any size and kind."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from check_cases import ask, message
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.checks import (
    MOST_DIGITS,
    finite_number,
    magnitude,
    number_text,
    one_or_several,
    shown,
    whole_number,
)
from sensitivity_lab.queries import PERCENTILE_METHODS

LIMIT = "(numbers have at most 4,000 digits)"


class Hostile:
    """An object that fails whatever is asked of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__: Hashable = None

    def __repr__(self) -> str:
        raise RuntimeError


METHODS = "choose one of " + ", ".join(PERCENTILE_METHODS)

# Long numbers

LONG = {
    "int": (10**5000, "1e5000"),
    "negative": (-(10**5000), "-1e5000"),
    "Fraction": (Fraction(1, 10**5000), "1e-5000"),
    "Decimal": (Decimal("1e99999999"), "1e99999999"),
    "small Decimal": (Decimal("-1e-99999999"), "-1e-99999999"),
}


@pytest.mark.parametrize(("number", "text"), LONG.values(), ids=LONG)
def test_numbers_of_too_many_digits_are_refused_with_the_limit(number, text):
    came = f"about {text} {LIMIT}"
    record = f"a record has too many digits: {came}, at position 1"
    assert message(lambda: sl.Universe.from_dataset([0, number])) == record
    assert message(lambda: sl.Universe([0, number])) == record
    for argument in ("lower", "upper"):
        assert message(lambda name=argument: sl.Universe([0, 1]).clipped(**{name: number})) == (
            f"{argument} must be None or a finite number, got {came}"
        )
    table = sl.TableUniverse.from_dataset(pd.DataFrame({"a": [number, 1]}, dtype=object))
    assert message(
        lambda: sl.global_sensitivity(table, sl.SumOf("a"), size=1, neighbors="bounded")
    ) == (
        f"column 'a' must have finite numbers, got {came} ({type(number).__name__}); choose "
        "another column"
    )


def test_numbers_up_to_the_limit_are_accepted():
    for number in (10**MOST_DIGITS - 1, Decimal(f"1e{MOST_DIGITS - 1}"), Fraction(1, 10**3999)):
        universe = sl.Universe.from_dataset([0, number])
        assert universe.values[1] == number
        assert len(repr(universe)) > 20
        assert sl.global_sensitivity(universe, "count", size=1, neighbors="bounded").exact == 0


@pytest.mark.exhaustive
def test_answers_of_more_digits_than_python_writes():
    small = Fraction(1, 10**3000)
    universe = sl.Universe.from_dataset([0, 1, small])
    result = sl.global_sensitivity(universe, "var", size=2, neighbors=sl.Bounded(1))
    # The variance of 0 and 1 less that of 0 and small; pytest cannot show such numbers.
    assert (result.exact == (1 - small**2) / 4) is True
    assert (Fraction(*_read(result.to_dict()["exact"])) == result.exact) is True
    assert repr(result).startswith("Sensitivity of var: 0.25 (exact, rounded up)\n  neighbors")
    curves = sl.sensitivity_curves(universe, "var", size=2, distances=1, neighbors="bounded")
    assert curves.to_frame()["exact"].tolist() == [result.to_dict()["exact"]]


def _read(text: str) -> list[int]:
    """The whole numbers of a fraction's text, however many digits they have."""
    return [
        sum(int(digit) * 10**place for place, digit in enumerate(reversed(part)))
        for part in text.split("/")
    ]


def test_an_answer_beyond_floats_says_how_large_it_is():
    universe = sl.Universe.from_dataset([0, 1, 10**2200])
    assert message(
        lambda: sl.global_sensitivity(universe, "var", size=2, neighbors=sl.Bounded(1))
    ) == (
        "var, bounded, at most 1: an answer of about 1e4399 is beyond the range of floats (about "
        "1.8e308); divide the records by a constant"
    )


@given(st.fractions().filter(bool), st.integers(-400, 400))
def test_magnitudes(mantissa, power):
    number = mantissa * Fraction(10) ** power
    sign, _, exponent = magnitude(number).rpartition("1e")
    assert Fraction(10) ** int(exponent) <= abs(number) < Fraction(10) ** (int(exponent) + 1)
    assert (sign == "-") == (number < 0)


@given(st.fractions())
def test_short_numbers_are_written_as_python_writes_them(number):
    assert number_text(number) == str(number)


NAMED = {
    "an exponent of more digits than Python writes": (
        lambda: sl.noise.smooth_beta(1, 1e-5, gamma=10**5000),
        "give delta (Laplace noise) or gamma (density 1 / (1 + abs(z)**gamma)), got delta=1e-05 "
        "and gamma=about 1e5000 (numbers have at most 4,000 digits)",
    ),
    "a percentile by name": (
        lambda: ask("percentile_1e99999999"),
        "a percentile must be a number from 0 to 100, got 'percentile_1e99999999'; write for "
        "example 'percentile_25'",
    ),
    "many sizes": (
        lambda: ask("count", size=range(10**12)),
        "size must be a whole number (a number of records, at least 0); these are too many: "
        "range(0, 1000000000000)",
    ),
    "datasets that are too large to list": (
        lambda: next(sl.datasets(sl.Universe.from_domain([0, 1, 5]), 10**9)),
        "datasets of 1,000,000,000 records are too large to list, more than 10,000,000; take a "
        "smaller size",
    ),
    "an object without a text": (
        lambda: sl.SumOf(Hostile()),
        "column must be the name of one column, such as 'age', got <Hostile>",
    ),
}


@pytest.mark.parametrize(("call", "said"), NAMED.values(), ids=NAMED)
def test_what_once_was_another_error(call, said):
    assert message(call) == said


# Kinds of numbers


def test_long_doubles_become_floats_or_fractions():
    third = np.longdouble(1) / 3
    array = np.array([0.5, third, 2], dtype=np.longdouble)
    for records in (array, list(array), pd.Series(list(array), dtype=object)):
        universe = sl.Universe.from_dataset(records)
        assert universe.values == (Fraction(*third.as_integer_ratio()), 0.5, 2.0)
        assert [type(value) for value in universe.values] == [Fraction, float, float]
        assert universe.clipped(1).values == (1, 2.0)
    assert sl.Var(np.longdouble(0.5)) == sl.Var(0.5)
    assert message(lambda: sl.Universe.from_dataset(array / 0)) == (
        "records must be finite numbers, got inf at position 0; drop or replace missing and "
        "infinite values first"
    )


test_long_doubles_become_floats_or_fractions = pytest.mark.filterwarnings(
    "ignore:divide by zero:RuntimeWarning"
)(test_long_doubles_become_floats_or_fractions)


@pytest.mark.parametrize("make", [sl.Universe, sl.Universe.from_dataset, sl.Universe.from_domain])
@pytest.mark.parametrize("read", [np.asarray, list, pd.Series], ids=["array", "list", "Series"])
def test_spans_of_time_are_no_records(make, read):
    spans = np.array([1, 2], dtype="m8[s]")
    first = next(iter(read(spans)))
    came = f"{first!r} ({type(first).__name__})"
    assert message(lambda: make(read(spans))) == (
        f"a record must be an int, float, Fraction or Decimal, got {came} at position 0; give a "
        "numeric column"
    )


def test_degrees_of_freedom_that_are_decimals():
    assert sl.Var(Decimal("0.5")).ddof == Fraction(1, 2)


@pytest.mark.parametrize("value", [True, None, "1", 1j, float("nan"), np.bool_(True), pd.NA, []])
def test_what_is_no_finite_number(value):
    assert finite_number(value) is None


def test_what_is_shown_of_a_value():
    assert shown(Hostile()) == "<Hostile>"
    assert shown([Hostile()]) == "<list>"
    assert shown(np.arange(3)) == "array([0, 1, 2])"
    assert len(shown("a" * 1000)) < 250
    assert shown(np.float64("nan")) == "nan"


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), (np.int8(-3), -3), (np.array(3), 3), (10**5000, 10**5000)]
    + [(wrong, None) for wrong in (True, np.bool_(True), 3.0, np.array([3]), "3", None, Hostile())],
    ids=shown,
)
def test_whole_numbers_are_those_of_python_and_of_numpy(value, number):
    found = whole_number(value)
    assert found == number
    assert type(found) is type(number)


def test_one_value_stands_for_a_list_of_it():
    assert one_or_several(np.array(2.5), "sizes") == [np.array(2.5)]
    assert one_or_several(iter([2, 3]), "sizes") == [2, 3]
    assert message(lambda: one_or_several(range(2**40), "sizes must be few")) == (
        "sizes must be few; these are too many: range(0, 1099511627776)"
    )


def test_arrays_of_a_single_number_are_numbers():
    """In a list of values, which a pipeline compares and counts, and where counts are expected."""
    assert pl.Values().read([np.array(3), np.longdouble(0.5)]) == [3, 0.5]
    assert [type(value) for value in pl.Values().read([np.array(3), np.longdouble(0.5)])] == [
        int,
        float,
    ]
    start = pl.Start(pl.Values(), pl.SymmetricDistance())
    assert (start >> pl.histogram([3]))([np.array(3), 3.0]) == [2]
    assert message(lambda: pl.max_rows_per_id(np.array(2.5))) == (
        "max_rows_per_id: k must be a whole number (a number of rows, at least 1), got 2.5 (float)"
    )


def test_a_range_of_more_numbers_than_a_length_can_be_is_refused():
    with pytest.raises(sl.errors.InputError, match=r"^size must be .* these are too many: range"):
        sl.global_sensitivity(range(3), "mean", size=range(1, 10**30), neighbors="bounded")
