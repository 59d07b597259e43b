"""What a call is, measured: a query of the lab, or a sensitivity of its own by brute force.

The sensitivities of the calls come from the loops of this file alone. The lab is asked for its
queries' answers and sensitivities, which are compared with them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import sqrt
from typing import Any

from whose.data_of import CHUNKED, Function, function_of, quietly
from whose.statistics_calls import STATISTICS, Statistic

import sensitivity_lab as sl

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
SIZES = (4, 5, 6, 7, 8)
CLOSE = 1e-9

METHODS = (
    *("linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "hazen"),
    *("interpolated_inverted_cdf", "weibull", "median_unbiased", "normal_unbiased"),
    *("lower", "higher", "midpoint", "nearest"),
)

QUERIES = (
    *("sl.Mean()", "sl.Median()", "sl.Min()", "sl.Max()", "sl.Range()", "sl.Midrange()"),
    *("sl.Var()", "sl.Var(ddof=1)", "sl.Std()", "sl.Std(ddof=1)"),
    *("sl.Std() / sqrt(n)", "sl.Std(ddof=1) / sqrt(n)"),
    "sl.Percentile(90)",
    *(f'sl.Percentile({q}, "{method}")' for q in (50, 90) for method in METHODS[1:]),
    "sl.InterquartileRange()",
    *(f'sl.InterquartileRange("{method}")' for method in METHODS[1:]),
    *("sl.TrimmedMean(Fraction(1, 4))", "sl.WinsorizedMean(Fraction(1, 4))"),
    *("sl.GiniMeanDifference()", "sl.CountDistinct()"),
)
"""Every query that a call may be; the first that it equals is said."""


def datasets() -> list[tuple[float, ...]]:
    """Return the datasets that calls are compared on: all small ones of the grid, ties, floats."""
    drawn = random.Random(53)
    small = [data for n in (2, 3, 4) for data in combinations_with_replacement(GRID, n)]
    ties = [[drawn.randrange(4) / 4 for _ in range(n)] for n in range(5, 35)]
    floats = [[drawn.random() for _ in range(n)] for n in range(2, 42)]
    shifted = [[drawn.gauss(100, 7) for _ in range(n)] for n in range(5, 25)]
    skewed = [[drawn.expovariate(1) ** 3 for _ in range(n)] for n in range(5, 25)]
    chosen = [tuple(drawn.sample(data, len(data))) for data in (*small, *ties, *floats)]
    return chosen + [tuple(data) for data in (*shifted, *skewed)]


@cache
def answers_of(query: str) -> tuple[float | None, ...]:
    """Return the lab's answers to a query on these datasets."""
    name, root = query.removesuffix(" / sqrt(n)"), query.endswith("sqrt(n)")
    asked = eval(name, {"sl": sl, "Fraction": Fraction})
    return tuple(float(asked(data)) / (sqrt(len(data)) if root else 1) for data in datasets())


def equals(function: Function) -> str | None:
    """Return the query that a call equals on all datasets, with a factor if it has one."""
    theirs = []
    for data in datasets():
        answer, missing = quietly(function, data, len(data))
        if missing:
            return None
        theirs.append(answer)
    for query in QUERIES:
        ours = answers_of(query)
        if all(abs(a - b) <= CLOSE * max(1.0, abs(b)) for a, b in zip(theirs, ours, strict=True)):
            return query
    for query in QUERIES:
        factor = _factor(theirs, answers_of(query))
        if factor is not None:
            return f"{factor:.6g} * {query}"
    return None


def _factor(theirs: Sequence[float], ours: Sequence[float]) -> float | None:
    """Return the number that answers of a query are multiplied by; None if there is none."""
    largest = max(range(len(ours)), key=lambda place: abs(ours[place]))
    factor = theirs[largest] / ours[largest]
    scaled = (factor * one for one in ours)
    same = all(abs(a - b) <= CLOSE * max(1.0, abs(b)) for a, b in zip(theirs, scaled, strict=True))
    return factor if same and factor else None


def sensitivity(answer: Callable[[tuple[float, ...]], float | None], n: int) -> tuple[float, int]:
    """Return the largest change when a record is replaced, and how many datasets have no answer.

    Every dataset of n records of the grid, in ascending order. Datasets without an answer are left
    out.
    """
    largest = 0.0
    known = {data: answer(data) for data in combinations_with_replacement(GRID, n)}
    missing = sum(one is None for one in known.values())
    for core in combinations_with_replacement(GRID, n - 1):
        around = [known[tuple(sorted((*core, value)))] for value in GRID]
        there = [one for one in around if one is not None]
        if there:
            largest = max(largest, max(there) - min(there))
    return largest, missing


def ordered_sensitivity(
    answer: Callable[[tuple[float, ...]], float | None], n: int
) -> float | None:
    """Return the largest change when the record in one place is replaced; the order counts.

    None if no dataset has an answer.
    """
    known = {data: answer(data) for data in product(GRID, repeat=n)}
    if all(one is None for one in known.values()):
        return None
    largest = 0.0
    for data, here in known.items():
        for place, value in product(range(n), GRID):
            there = known[*data[:place], value, *data[place + 1 :]]
            if here is not None and there is not None:
                largest = max(largest, abs(here - there))
    return largest


def _in_orders() -> Iterator[tuple[tuple[float, ...], list[tuple[float, ...]]]]:
    """Yield datasets in ascending order with other orders of each."""
    drawn = random.Random(5)
    for n in (3, 4, 5, 8, 12):
        for _ in range(6):
            data = sorted(drawn.choice(GRID) if n % 2 else drawn.random() for _ in range(n))
            orders = list(permutations(data)) if n == 3 else [drawn.sample(data, n) for _ in "abcd"]
            yield tuple(data), [tuple(reversed(data)), *map(tuple, orders)]


def depends_on_order(function: Function) -> bool:
    """Tell whether a call answers some dataset otherwise in another order, its chunk being one."""
    for data, orders in _in_orders():
        first = quietly(function, data, len(data))
        if any(not _same(first, quietly(function, one, len(one))) for one in orders):
            return True
    return False


def depends_on_chunks(function: Function) -> bool:
    """Tell whether a call answers some dataset otherwise in chunks of 2, 3 or 5 records."""
    for _, orders in _in_orders():
        whole = quietly(function, orders[-1], len(orders[-1]))
        if any(not _same(whole, quietly(function, orders[-1], chunk)) for chunk in (2, 3, 5)):
            return True
    return False


def _same(one: tuple[float | None, str], other: tuple[float | None, str]) -> bool:
    if one[0] is None or other[0] is None:
        return one == other
    return abs(one[0] - other[0]) <= CLOSE * max(1.0, abs(one[0]))


def told(number: float | None) -> str:
    """Return a number as a fraction of small terms if it is one, else with six digits."""
    if number is None:
        return "fails"
    if not math.isfinite(number):
        return str(number)
    near = Fraction(number).limit_denominator(2000)
    if abs(near - Fraction(number)) < 1e-12:
        return str(near)
    return f"{number:.6g}"


@cache
def ours(query: str, n: int) -> str:
    """Return the lab's sensitivity of a query for n records of the grid, one of them replaced."""
    factor, _, rest = query.rpartition(" * ")
    name, root = rest.removesuffix(" / sqrt(n)"), rest.endswith("sqrt(n)")
    asked = eval(name, {"sl": sl, "Fraction": Fraction})
    universe = sl.Universe.from_domain([Fraction(value) for value in GRID])
    found = sl.global_sensitivity(universe, asked, size=n, neighbors=sl.Bounded(1))
    return told(float(found.value) * float(factor or 1) / (sqrt(n) if root else 1))


def cell(statistic: Statistic, library: str, call: str) -> dict[str, Any]:
    """Return what was measured of a call."""
    function = function_of(library, call)

    def sorted_answer(data: tuple[float, ...]) -> float | None:
        return quietly(function, data, len(data))[0]

    found: dict[str, Any] = {"statistic": statistic.name, "library": library, "call": call}
    for name, data in (("none", ()), ("one", (0.5,)), ("equal", (0.5,) * 4)):
        answer, missing = quietly(function, data, max(len(data), 1))
        found[name] = missing or told(answer)
    if quietly(function, (0.0, 0.25, 0.75, 1.0, 0.5), 5)[1]:
        return found | {"absent": quietly(function, (0.0, 0.25, 0.75, 1.0, 0.5), 5)[1]}
    found["equals"] = equals(function)
    measured = {n: sensitivity(sorted_answer, n) for n in SIZES}
    found["sensitivity"] = {str(n): told(value) for n, (value, _) in measured.items()}
    found["missing"] = {str(n): missing for n, (_, missing) in measured.items() if missing}
    beside = found["equals"] or statistic.ours
    found["beside"] = beside
    found["ours"] = {str(n): ours(beside, n) for n in SIZES} if beside else None
    found["order"] = depends_on_order(function)
    found["chunks"] = depends_on_chunks(function) if library in CHUNKED else None
    if found["order"] or found["chunks"]:
        found["ordered"] = {
            str(chunk): told(
                ordered_sensitivity(lambda data, chunk=chunk: quietly(function, data, chunk)[0], 4)
            )
            for chunk in ((2, 3, 4) if found["chunks"] else (4,))
        }
    return found


def measured(libraries: set[str], only: str = "") -> list[dict[str, Any]]:
    """Return the cells of libraries, in the order of the page."""
    return [
        cell(statistic, library, call)
        for statistic in STATISTICS
        for library, call in statistic.calls
        if library in libraries and only in (statistic.name, library, "")
    ]


def places() -> list[tuple[str, str, str]]:
    """Return statistic, library and call of every cell of the page, in its order."""
    return [(one.name, library, call) for one in STATISTICS for library, call in one.calls]
