"""Universes of every number of an interval: values, results that name them, and their errors."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from checks import refused

import sensitivity_lab as sl

INTERVAL = sl.Universe.from_interval(0, 120)


def test_results_name_the_interval():
    result = sl.global_sensitivity(INTERVAL, "mean", size=3, neighbors="bounded")
    assert repr(result) == (
        "Sensitivity of mean: 40 (exact)\n"
        "  neighbors  bounded, at most 1; size 3 (public); interval [0, 120], every real number\n"
        "  only in x  120  f(x) = 40\n"
        "  only in y  0    f(y) = 0\n"
        "  in both    0 (x2)\n"
        "  method     intervals, exact arithmetic, no evaluation needed"
    )
    assert "interval [0, 120], every real number" in result._repr_html_()
    assert [label for label, *_ in result.blocks] == [*"CBOA"]
    assert result.blocks[0] == ("C", 2, 0, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["strip", "witness"])
def test_a_witness_with_a_fraction_is_drawn(kind):
    result = sl.global_sensitivity(
        sl.Universe.from_interval(0, 1), sl.Var(ddof=1), size=10, neighbors=sl.Unbounded(8)
    )
    axes = result.plot(kind)
    axes.figure.canvas.draw()
    assert [text.get_text() for text in axes.figure.findobj(lambda one: hasattr(one, "get_text"))]


def test_a_witness_outside_the_interval_is_no_proof():
    result = sl.global_sensitivity(INTERVAL, "mean", size=3, neighbors="bounded")
    wrong = sl.results.Witness((0, 0, 121), (0, 0, 0), 121 / 3, 0.0)
    refused(
        lambda: replace(result, witness=wrong).verify(),
        "the record 121 is not in the universe: Universe of every real number of the interval "
        "[0, 120], each any number of times",
        sl.errors.VerificationError,
    )


def test_a_local_minimum_can_be_at_a_mean_inside():
    result = sl.local_sensitivity(
        INTERVAL, "var", dataset=[1, 2, 3.5, 100], neighbors=sl.Bounded(2)
    )
    assert result.witness.y == (1, Fraction(3, 2), Fraction(3, 2), 2)
    curves = sl.local_curves(
        INTERVAL, ["var"], dataset=[1, 2, 3.5, 100], distances=[1, 2], neighbors="bounded"
    )
    assert curves.result("var", distance=2).exact == result.exact


def test_a_claim_is_audited_on_an_interval():
    report = sl.audit(INTERVAL, "mean", 11, size=10, neighbors="bounded", distances=[1])
    assert (report.verdict, report.rows[0].exact) == ("violated", 12)
    assert "interval [0, 120], every real number" in repr(report)


def test_an_interval_is_a_value():
    assert sl.IntervalUniverse(0.0, Decimal(120)) == INTERVAL
    assert hash(INTERVAL) == hash(sl.IntervalUniverse(0.0, Decimal(120)))
    assert sl.Universe.from_interval(0, 1) != INTERVAL
    assert not isinstance(INTERVAL, sl.Universe)
    assert (INTERVAL.size, INTERVAL.numeric) == (math.inf, True)
    assert [0 in INTERVAL, 120 in INTERVAL, Fraction(1, 3) in INTERVAL] == [True] * 3
    assert [-1e-300 in INTERVAL, math.nan in INTERVAL, "a" in INTERVAL] == [False] * 3
    assert repr(INTERVAL) == (
        "Universe of every real number of the interval [0, 120], each any number of times"
    )
    assert INTERVAL._repr_html_() == f"<p>{INTERVAL!r}</p>"
    assert INTERVAL.dataset(np.array([3.5, 1])) == (1.0, 3.5)


def test_floats_and_decimals_are_bounds_as_they_are_written():
    universe = sl.IntervalUniverse(Decimal("0.1"), np.float64(0.7))
    result = sl.global_sensitivity(universe, "sum", size=2, neighbors="bounded")
    assert result.witness.x == (Decimal("0.1"), 0.7)
    assert result.exact == Fraction(0.7) - Fraction(1, 10)


NO_GRID = (
    "a finite universe is needed here, got the interval [0, 120], every real number; use a grid "
    "of its values, Universe.from_domain(values)"
)

ERRORS = {
    "the wrong way around": (
        lambda: sl.Universe.from_interval(3, 1),
        sl.errors.InputError,
        "lower must be below upper, got 3 and 1; for a single value use "
        "Universe.from_domain([value])",
    ),
    "an outsider": (
        lambda: sl.local_sensitivity(INTERVAL, "mean", dataset=[1, 121], neighbors="bounded"),
        sl.errors.InputError,
        f"the record 121 is not in the universe: {INTERVAL!r}",
    ),
    "too far": (
        lambda: sl.global_sensitivity(INTERVAL, "mean", size=3, neighbors=sl.Unbounded(3, True)),
        sl.errors.InputError,
        "unbounded, exactly 3 is not feasible for datasets of size 3 in an interval [0, 120], "
        "every real number: removing needs k <= size - 1, adding needs k <= records outside "
        "x; the largest feasible k is 2, or choose direction='add', "
        "which leaves out removals and can give a smaller sensitivity",
    ),
    "a query on rows": (
        lambda: sl.global_sensitivity(INTERVAL, sl.MeanOf("age"), size=3, neighbors="bounded"),
        sl.errors.InputError,
        "mean of age is a query on records, and the universe has numbers; make a TableUniverse of "
        "the table",
    ),
    "datasets": (lambda: list(sl.datasets(INTERVAL, 2)), sl.errors.InputError, NO_GRID),
    "count_datasets": (
        lambda: sl.universes.count_datasets(INTERVAL, 2),
        sl.errors.InputError,
        NO_GRID,
    ),
    "neighboring_datasets": (
        lambda: sl.neighboring_datasets(INTERVAL, [1], sl.Bounded(1)),
        sl.errors.InputError,
        NO_GRID,
    ),
    "count_neighbors": (
        lambda: sl.universes.count_neighbors(INTERVAL, [1], sl.Bounded(1)),
        sl.errors.InputError,
        NO_GRID,
    ),
    "neighbor_table": (
        lambda: sl.neighbor_table(INTERVAL, "mean", size=2, neighbors="bounded"),
        sl.errors.InputError,
        NO_GRID,
    ),
    "smooth_sensitivity": (
        lambda: sl.smooth_sensitivity(INTERVAL, "median", dataset=[1], beta=1, neighbors="bounded"),
        sl.errors.InputError,
        NO_GRID,
    ),
    "a function": (
        lambda: sl.global_sensitivity(INTERVAL, sum, size=2, neighbors="bounded"),
        sl.errors.NoEngineError,
        "no engine accepts sum (function) here: intervals covers L-statistics (sums, means, "
        "weighted sums by rank), count, var and std over an interval, not sum (function): no "
        "proof limits its worst case to finitely many values; for certified bounds of it choose "
        "method='boxes', and for a lower bound use a grid, Universe.from_domain(values)",
    ),
    "a function, locally": (
        lambda: sl.local_sensitivity(INTERVAL, sum, dataset=[1, 2], neighbors="bounded"),
        sl.errors.NoEngineError,
        "no engine accepts sum (function) here: intervals covers L-statistics (sums, means, "
        "weighted sums by rank), count, var and std over an interval, not sum (function): no "
        "proof limits its worst case to finitely many values; for certified bounds of it choose "
        "method='boxes', and for a lower bound use a grid, Universe.from_domain(values)",
    ),
    "another engine": (
        lambda: sl.global_sensitivity(
            INTERVAL, "mean", size=2, neighbors="bounded", method="enumeration"
        ),
        sl.errors.NoEngineError,
        "no engine accepts mean here: enumeration searches finite universes, not the interval "
        "[0, 120], every real number; choose method='intervals', or use a grid of its values, "
        "Universe.from_domain(values)",
    ),
    "another universe": (
        lambda: sl.global_sensitivity(
            sl.Universe([1, 2]), "mean", size=1, neighbors="bounded", method="intervals"
        ),
        sl.errors.NoEngineError,
        "no engine accepts mean here: intervals searches intervals, not a universe of 2 records; "
        "choose another method, or make an interval with Universe.from_interval(lower, upper)",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_do(name):
    call, error, message = ERRORS[name]
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    assert str(raised.value) == message


def test_a_column_that_is_an_interval_names_itself_in_errors():
    with pytest.raises(sl.errors.NoEngineError) as raised:
        sl.sensitivity_curves({"age": INTERVAL}, [sum], size=3, distances=[1], neighbors="bounded")
    assert str(raised.value).startswith(
        "column 'age': no engine accepts sum (function) here: intervals "
    )
