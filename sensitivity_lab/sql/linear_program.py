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
from typing import Any

import numpy as np

from sensitivity_lab.errors import QueryError, TooLargeError

from .database import missing

_MOST_VARIABLES = 2_000_000
"""The most variables that the solver gets; it needs about 2 kB for each."""


@dataclass(frozen=True)
class Optimum:
    """What is known of the program's optimum.

    Attributes
    ----------
    lower, upper : float
        It is between them: the total of a feasible choice, and that of a feasible choice of the
        dual program, which the solver's answers are made into. They are equal up to the rounding of
        sums if no result belongs to two persons above the threshold.
    cut : int
        The number of persons above the threshold.
    """

    lower: float
    upper: float
    cut: int


def truncated_total(
    persons: Sequence[Sequence[int]], values: Sequence[float], threshold: float
) -> Optimum:
    """Return the largest total in which each person has at most a threshold.

    Parameters
    ----------
    persons : sequence of sequences of int
        The persons of each result, or of results with the same persons, numbered from 0.
    values : sequence of float
        The total value of these results, at least 0.
    threshold : float
        tau, above 0.

    Raises
    ------
    TooLargeError
        If more than two million kinds of results belong to persons above the threshold.
    QueryError
        If the solver fails.

    Examples
    --------
    A friendship belongs to two persons. Person 0 has three, and each of the others has one:

    >>> truncated_total([(0, 1), (0, 2), (0, 3)], [1, 1, 1], threshold=2).upper
    2.0
    """
    worth = np.asarray(values, dtype=float)
    sizes = np.array([len(one) for one in persons], dtype=np.int64)
    owners = np.fromiter((p for one in persons for p in one), np.int64, int(sizes.sum()))
    results = np.repeat(np.arange(len(persons)), sizes)
    totals = np.bincount(owners, weights=worth[results]) if len(owners) else np.zeros(0)
    above = totals > threshold
    if not above.any():
        return Optimum(float(worth.sum()), float(worth.sum()), 0)

    # Only the results of persons above the threshold have to give way, and only to these persons.
    kept = above[owners]
    owners, results = owners[kept], results[kept]
    touched, place = np.unique(results, return_inverse=True)
    free = float(worth.sum() - worth[touched].sum())
    _, rows = np.unique(owners, return_inverse=True)
    if len(touched) == len(results):  # one such person each: every person is alone
        total = free + float(np.minimum(np.bincount(rows, weights=worth[results]), threshold).sum())
        return Optimum(total, total, int(above.sum()))
    lower, upper = _solved(rows, place, worth[touched], threshold)
    return Optimum(free + lower, free + upper, int(above.sum()))


def _solved(
    rows: np.ndarray, columns: np.ndarray, worth: np.ndarray, threshold: float
) -> tuple[float, float]:
    """Return a lower and an upper bound of the optimum, from a solution and its dual."""
    if len(worth) > _MOST_VARIABLES:
        raise TooLargeError(
            f"truncation: {len(worth):,} kinds of results belong to persons above the threshold "
            f"{threshold:g}, and the linear program can have {_MOST_VARIABLES:,}; try larger "
            "thresholds"
        )
    optimize, sparse = _scipy()
    limits = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)))
    solution = optimize.linprog(
        -np.ones(len(worth)),
        A_ub=limits,
        b_ub=np.full(limits.shape[0], threshold),
        bounds=np.column_stack([np.zeros(len(worth)), worth]),
        method="highs",
    )
    if solution.x is None:
        raise QueryError(f"truncation: the solver of the linear program failed: {solution.message}")
    # The solver is right up to its tolerance. Scaled down, its choice is feasible; any prices of
    # the persons of at least 0 bound the optimum from above.
    choice = np.clip(solution.x, 0, worth)
    over = np.maximum(limits @ choice / threshold, 1)
    scale = np.ones(len(worth))
    np.minimum.at(scale, columns, 1 / over[rows])
    prices = np.maximum(-solution.ineqlin.marginals, 0)
    rest = np.maximum(1 - limits.T @ prices, 0)
    return float((choice * scale).sum()), float(threshold * prices.sum() + (worth * rest).sum())


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy import optimize, sparse
    except ImportError as error:
        raise missing("SciPy") from error
    return optimize, sparse
