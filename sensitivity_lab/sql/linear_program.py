"""The largest total of results in which no person has more than a threshold: R2T's program.

    maximize  sum over results r of u_r
    such that 0 <= u_r <= value_r, and the u of all results of a person add up to tau at most

Without a person, the results of the person leave the program; the rest of an optimum is still
feasible, and lost at most tau. So the optimum moves by at most tau when a person joins or leaves,
whatever tables the person is in and however often (Dong, Fang, Yi, Tao and Machanavajjhala, "R2T:
Instance-optimal Truncation for Differentially Private Query Evaluation with Foreign Keys", SIGMOD
2022, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from sensitivity_lab.errors import QueryError, TooLargeError

from .database import missing

_MOST_VARIABLES = 2_000_000
"""The most variables that the solver gets; it needs about 2 kB for each."""

_PARTS = 2**40
"""The parts of the threshold, and of 1, that an answer is rounded to."""


@dataclass(frozen=True)
class Optimum:
    """What is known of the program's optimum.

    Attributes
    ----------
    lower, upper : Fraction
        It is between them: the total of a feasible choice, and that of a feasible choice of the
        dual program, which the solver's answers are made into, in whole numbers. They are equal if
        no result belongs to two persons above the threshold.
    cut : int
        The number of persons above the threshold.
    """

    lower: Fraction
    upper: Fraction
    cut: int


def tolerance(threshold: Fraction) -> Fraction:
    """Return how far `Optimum.lower` may be below the optimum, which is the same for all data.

    So the lower end of neighbors is at most the threshold and this apart.
    """
    return threshold / 2**10


def truncated_total(
    persons: Sequence[Sequence[int]], values: Sequence[int], threshold: Fraction
) -> Optimum:
    """Return the largest total in which each person has at most a threshold.

    Parameters
    ----------
    persons : sequence of sequences of int
        The persons of each result, or of results with the same persons, numbered from 0.
    values : sequence of int
        The total value of these results, at least 0: whole numbers of any size.
    threshold : Fraction
        tau, above 0.

    Raises
    ------
    TooLargeError
        If more than two million kinds of results belong to persons above the threshold.
    QueryError
        If the solver fails, or its answer is not within `tolerance`.

    Examples
    --------
    A friendship belongs to two persons. Person 0 has three, and each of the others has one:

    >>> truncated_total([(0, 1), (0, 2), (0, 3)], [1, 1, 1], Fraction(2)).lower
    Fraction(2, 1)
    """
    sizes = np.array([len(one) for one in persons], dtype=np.int64)
    owners = np.fromiter((p for one in persons for p in one), np.int64, int(sizes.sum()))
    results = np.repeat(np.arange(len(persons)), sizes)
    totals = [0] * (int(owners.max(initial=-1)) + 1)
    for owner, result in zip(owners.tolist(), results.tolist(), strict=True):
        totals[owner] += values[result]
    above = np.array([total > threshold for total in totals], dtype=bool)
    everything = Fraction(sum(values))
    if not above.any():
        return Optimum(everything, everything, 0)

    # Only the results of persons above the threshold have to give way, and only to these persons.
    kept = above[owners]
    owners, results = owners[kept], results[kept]
    touched, place = np.unique(results, return_inverse=True)
    worth = [values[result] for result in touched.tolist()]
    free, cut = everything - sum(worth), int(above.sum())
    if len(touched) == len(results):  # one such person each: every person is alone
        total = free + cut * threshold
        return Optimum(total, total, cut)
    _, rows = np.unique(owners, return_inverse=True)
    lower, upper = _solved(rows, place, worth, threshold)
    if upper - lower > tolerance(threshold):
        raise QueryError(
            "truncation: the solver of the linear program did not come within a thousandth of the "
            f"threshold {float(threshold):g} of the optimum; try a larger threshold"
        )
    return Optimum(free + lower, free + upper, cut)


def _solved(
    rows: np.ndarray, columns: np.ndarray, worth: Sequence[int], threshold: Fraction
) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of the optimum, from a solution and its dual."""
    if len(worth) > _MOST_VARIABLES:
        raise TooLargeError(
            f"truncation: {len(worth):,} kinds of results belong to persons above the threshold "
            f"{float(threshold):g}, and the linear program can have {_MOST_VARIABLES:,}; try "
            "larger thresholds"
        )
    optimize, sparse = _scipy()
    # No result can have more than the threshold, since it belongs to a person who cannot.
    most = np.array([float(min(Fraction(one), threshold) / threshold) for one in worth])
    limits = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)))
    solution = optimize.linprog(
        -np.ones(len(most)),
        A_ub=limits,
        b_ub=np.ones(limits.shape[0]),
        bounds=np.column_stack([np.zeros(len(most)), most]),
        method="highs",
    )
    if solution.x is None:
        raise QueryError(f"truncation: the solver of the linear program failed: {solution.message}")
    # The solver is right up to its tolerance. From here on all is in whole numbers: parts of the
    # threshold for the choice, and parts of 1 for the prices of persons.
    choice = np.floor(np.clip(solution.x, 0, most) * _PARTS).astype(np.int64)
    choice = np.minimum(choice, [min(one * _PARTS // threshold, _PARTS) for one in worth])
    used = np.zeros(limits.shape[0], dtype=np.int64)
    np.add.at(used, rows, choice[columns])
    # Where a person has too much, all of the person's results give way in proportion.
    given = choice.copy()
    for entry in np.flatnonzero(used[rows] > _PARTS).tolist():
        result = int(columns[entry])
        least = int(given[result]) * _PARTS // int(used[rows[entry]])
        choice[result] = min(int(choice[result]), least)
    prices = np.ceil(np.clip(-solution.ineqlin.marginals, 0, 1) * _PARTS).astype(np.int64)
    paid = np.zeros(len(worth), dtype=np.int64)
    np.add.at(paid, columns, prices[rows])
    rest = np.maximum(_PARTS - paid, 0).tolist()
    capped = [min(-(-one * _PARTS // threshold), _PARTS) for one in worth]
    upper = Fraction(int(prices.sum()), _PARTS) + Fraction(sum(map(mul, capped, rest)), _PARTS**2)
    return int(choice.sum()) * threshold / _PARTS, upper * threshold


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy import optimize, sparse
    except ImportError as error:
        raise missing("SciPy") from error
    return optimize, sparse
