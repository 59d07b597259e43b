"""Mistakes and right claims of the textbook, each found by a sweep that is not told the answer.

A sweep audits a claim, a formula in the bounds L and U, the size n and the distance k, in every
universe of a few values on a grid, at every size and distance. A claim that is violated anywhere is
wrong; one that is attained somewhere is tight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import sensitivity_lab as sl

UNIT = (0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1)
BOTH_SIGNS = (-2, -1, 0, 1, 3)
LOWER, UPPER = 20, 125


def sweep(
    query: object,
    claim: Callable[[int, int], object],
    grid: Sequence[object],
    *,
    sizes: Iterable[object],
    neighbors: str | sl.Unbounded,
    distances: Sequence[int] = (1, 2),
) -> dict[int, sl.audits.AuditRow]:
    """Audit `claim(n, k)` everywhere; by distance, the row with the least claim for its truth."""
    closest: dict[int, sl.audits.AuditRow] = {}
    for values in [*combinations(grid, 2), *combinations(grid, 3)]:
        universe = sl.Universe.from_domain(list(values))
        for size in sizes:
            report = sl.audit(
                universe,
                query,
                lambda k, n=size: claim(n, k),
                size=size,
                neighbors=neighbors,
                distances=distances,
            )
            for row in report.rows:
                known = closest.setdefault(row.distance, row)
                if row.factor < known.factor:
                    closest[row.distance] = row
    return closest


def verdicts(rows: dict[int, sl.audits.AuditRow]) -> list[str]:
    return [rows[k].verdict for k in sorted(rows)]


clipped_sum = sl.from_function(
    lambda rows: np.clip(rows, LOWER, UPPER).sum(axis=1), vectorized=True, name="clip(20, 125).sum"
)
RAW = (-50, 0, LOWER, 70, UPPER, 300)


@pytest.mark.stress
def test_the_sum_of_clipped_values_changes_by_more_than_their_range():
    """upper - lower is claimed, right where a record is replaced; a record that is added is 125."""
    rows = sweep(
        clipped_sum, lambda _n, k: k * (UPPER - LOWER), RAW, sizes=(3, 4), neighbors="unbounded"
    )
    assert verdicts(rows) == ["violated", "violated"]
    assert (rows[1].claimed, rows[1].exact) == (105, 125)
    x, y = rows[1].evidence.x, rows[1].evidence.y
    assert abs(np.clip(x, 20, 125).sum() - np.clip(y, 20, 125).sum()) == 125
    assert abs(len(x) - len(y)) == 1


@pytest.mark.exhaustive
def test_the_sum_of_clipped_values_where_a_record_is_replaced():
    rows = sweep(
        clipped_sum, lambda _n, k: k * (UPPER - LOWER), RAW, sizes=(3, 4), neighbors="bounded"
    )
    assert verdicts(rows) == ["tight", "tight"]


def test_the_mean_over_all_sizes_changes_by_more_than_the_range_over_the_largest():
    """(U - L) / n is claimed with the n at hand, but sizes down to 1 are neighbors of some."""
    largest = 6
    rows = sweep(
        "mean",
        lambda _sizes, k: Fraction(k, largest),
        UNIT,
        sizes=[range(2, largest + 1)],
        neighbors="unbounded",
        distances=[1],
    )
    assert verdicts(rows) == ["violated"]
    assert (rows[1].claimed, rows[1].exact) == (Fraction(1, 6), Fraction(1, 2))
    assert {len(rows[1].evidence.x), len(rows[1].evidence.y)} == {1, 2}


@pytest.mark.exhaustive
def test_two_replacements_change_a_variance_by_less_than_twice_one():
    """(U - L)**2 / n per replacement is right for one; a linear map over-charges two."""
    rows = sweep(sl.Var(ddof=1), lambda n, k: Fraction(k, n), UNIT, sizes=[4], neighbors="bounded")
    assert verdicts(rows) == ["tight", "loose"]
    assert (rows[2].claimed, rows[2].exact) == (Fraction(1, 2), Fraction(1, 3))
    assert rows[2].factor == 1.5


def scores(alpha_num: int, alpha_den: int, candidate: float) -> sl.queries.Function:
    """How unlike a quantile a candidate is, as the exponential mechanism scores it.

    |(den - num) * (records below) - num * (records above)|, 0 at the quantile num / den.
    """

    def score(rows):
        below, above = (rows < candidate).sum(axis=1), (rows > candidate).sum(axis=1)
        return np.abs((alpha_den - alpha_num) * below - alpha_num * above)

    return sl.from_function(
        score, vectorized=True, name=f"score of {candidate} as quantile {alpha_num}/{alpha_den}"
    )


SOUND = {
    "count, add or remove": ("count", lambda _n, k: k, UNIT, "unbounded"),
    "count, replace": ("count", lambda _n, _k: 0, UNIT, "bounded"),
    "sum, add or remove": ("sum", lambda _n, k: 3 * k, BOTH_SIGNS, "unbounded"),
    "sum, replace": ("sum", lambda _n, k: 5 * k, BOTH_SIGNS, "bounded"),
    "sum, add and remove": ("sum", lambda _n, k: 3 * k, BOTH_SIGNS, "symmetric_difference"),
    "mean, replace": ("mean", lambda n, k: Fraction(5 * k, n), BOTH_SIGNS, "bounded"),
    "mean, remove": (
        "mean",
        lambda n, k: Fraction(5 * k, n),
        BOTH_SIGNS,
        sl.Unbounded(direction="remove"),
    ),
    "mean, add": (
        "mean",
        lambda n, k: Fraction(5 * k, n + k),
        BOTH_SIGNS,
        sl.Unbounded(direction="add"),
    ),
    "median, replace": (
        "median",
        lambda n, k: 1 if n % 2 or k > 1 else Fraction(1, 2),
        UNIT,
        "bounded",
    ),
    **{
        f"score of {candidate} as quantile {num}/{den}, add or remove": (
            scores(num, den, candidate),
            lambda _n, k, num=num, den=den: k * max(num, den - num),
            (0, 1, 2, 3),
            "unbounded",
        )
        for num, den in [(1, 2), (3, 4), (1, 10)]
        for candidate in (1, 1.5)
    },
    **{
        f"score of {candidate} as quantile {num}/{den}, replace": (
            scores(num, den, candidate),
            lambda _n, k, den=den: k * den,
            (0, 1, 2, 3),
            "bounded",
        )
        for num, den in [(1, 2), (3, 4)]
        for candidate in (1, 1.5)
    },
}
"""Query, claim, grid and relation of what is right."""


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(
            item,
            marks=[pytest.mark.exhaustive] * (place % 8 > 0) + [pytest.mark.stress] * (place % 2),
        )
        for place, item in enumerate(SOUND)
    ],
)
def test_what_is_right_is_tight_and_never_violated(item):
    query, claim, grid, neighbors = SOUND[item]
    rows = sweep(query, claim, grid, sizes=(3, 4, 5), neighbors=neighbors)
    assert verdicts(rows) == ["tight", "tight"]
