"""The definition of global sensitivity, in plain Python.

It lists all pairs of neighboring datasets, answers the query on each dataset in rational arithmetic
and keeps the largest change. It imports nothing that it judges, and reaches about ten records.

Records are numbers (int, float, Fraction or Decimal) labeled by their position in a list: equal
values at two positions are two records. A dataset is the sorted tuple of its records. A query is
one of these tuples, or any function of a tuple of floats:

    ("mean",)  ("median",)  ("sum",)  ("count",)  ("min",)  ("max",)
    ("var", ddof)  ("std", ddof)  ("percentile", q, method)      with 0 <= q <= 100
    ("count_distinct",)

Every neighbor relation is one picture: x = C + A and y = C + B, where the records of C, A and B are
different records of the universe. At distance d, with 1 <= d <= k, or d = k when ``exactly``:

    "bounded"               |A| = |B| = d
    "unbounded"             |A| = d and B empty (remove), or A empty and |B| = d (add)
    "symmetric_difference"  |A| + |B| = d
    "edit"                  the larger of |A| and |B| is d

The empty dataset, nobody's, is a dataset: sums and counts of it are 0, and a function gets (). For
a query that has no answer on so few records, such as a mean of none, it is none; see `least`.
What x or the universe has too few records for is left out; no pair at all is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import Any

Record = int | float | Fraction | Decimal
Dataset = tuple[Record, ...]
Pair = tuple[Dataset, Dataset]
Query = tuple[Any, ...] | Callable[[tuple[float, ...]], float]

DIGITS = 60  # significant digits of the sensitivity of a standard deviation
CONTINUOUS_METHODS = {  # alpha and beta of the sample quantiles 4 to 9 of Hyndman and Fan
    "interpolated_inverted_cdf": (Fraction(0), Fraction(1)),
    "hazen": (Fraction(1, 2), Fraction(1, 2)),
    "weibull": (Fraction(0), Fraction(0)),
    "linear": (Fraction(1), Fraction(1)),
    "median_unbiased": (Fraction(1, 3), Fraction(1, 3)),
    "normal_unbiased": (Fraction(3, 8), Fraction(3, 8)),
}
METHODS = (  # of numpy.percentile
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation"),
    *CONTINUOUS_METHODS,
    *("lower", "higher", "midpoint", "nearest"),
)


def universe_of(values: Iterable[Record], counts: Iterable[int]) -> list[Record]:
    """List the records of a universe, each value as often as its count says.

    >>> universe_of([1, 2], [1, 3])
    [1, 2, 2, 2]
    """
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def evaluate(query: tuple[Any, ...], records: Iterable[Record]) -> Fraction:
    """Answer a query tuple, except the irrational ``("std", ddof)``, exactly.

    ValueError if the query is unknown or undefined: no records, or a variance of ddof or fewer.

    >>> evaluate(("var", 1), [1, 2, 4])
    Fraction(7, 3)
    >>> evaluate(("percentile", 90, "linear"), [1, 2, 3, 10])
    Fraction(79, 10)
    """
    values = sorted(Fraction(record) for record in records)
    if len(values) < least(query):
        raise ValueError(f"{query!r} is undefined on {len(values)} records")
    match query:
        case ("mean",):
            return _mean(values)
        case ("median",):
            return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
        case ("sum",):
            return sum(values, Fraction(0))
        case ("count",):
            return Fraction(len(values))
        case ("min" | "max" as end,):
            return values[0 if end == "min" else -1]
        case ("count_distinct",):
            return Fraction(len(set(values)))
        case ("var", ddof):
            return _variance(values, Fraction(ddof))
        case ("percentile", q, method):
            return _percentile(values, Fraction(q) / 100, method)
    return _by_rank(query, values)


def _by_rank(query: tuple[Any, ...], values: list[Fraction]) -> Fraction:
    match query:
        case ("range",):
            return values[-1] - values[0]
        case ("midrange",):
            return (values[0] + values[-1]) / 2
        case ("iqr",):
            low, high = (_percentile(values, Fraction(q, 4), "linear") for q in (1, 3))
            return high - low
        case ("gini",):
            return _mean([b - a for a, b in combinations(values, 2)])
        case ("trimmed" | "winsorized" as name, share):
            cut = floor(Fraction(share) * len(values))
            kept = values[cut : len(values) - cut]
            return _mean(kept if name == "trimmed" else [kept[0]] * cut + kept + [kept[-1]] * cut)
        case ("alternating",):
            signed = [one if rank % 2 == 0 else -one for rank, one in enumerate(values, 1)]
            return -sum(rank * one for rank, one in enumerate(signed, 1))
    raise ValueError(f"no rational query {query!r}")


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def least(query: Query) -> int:
    """The fewest records on which a query has an answer.

    >>> least(("sum",)), least(("median",)), least(("std", 1)), least(len)
    (0, 1, 2, 0)
    """
    if not isinstance(query, tuple):
        return getattr(query, "least_size", 0)
    match query:
        case ("sum" | "count" | "count_distinct",):
            return 0
        case ("var" | "std", ddof):
            return floor(Fraction(ddof)) + 1
        case ("gini",):
            return 2
    return 1


def _variance(values: Sequence[Fraction], ddof: Fraction) -> Fraction:
    """Sum of squared deviations from the mean, over the number of values less ddof."""
    if len(values) <= ddof:
        raise ValueError(f"a variance with ddof={ddof} is undefined on {len(values)} records")
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - ddof)


def _percentile(values: Sequence[Fraction], q: Fraction, method: str) -> Fraction:
    """Sample quantile of sorted values at q in [0, 1].

    The order statistics on both sides of a position are mixed with weights 1 - g and g; beyond
    either end stands the value at that end. Positions count from 0, so they are one less than in
    Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996).
    """
    if not 0 <= q <= 1:
        raise ValueError(f"a percentile must be between 0 and 100, not {100 * q}")
    n = len(values)
    if method in CONTINUOUS_METHODS:
        alpha, beta = CONTINUOUS_METHODS[method]
        position = n * q + alpha + q * (1 - alpha - beta) - 1
    elif method in ("inverted_cdf", "averaged_inverted_cdf"):
        position = n * q - 1
    elif method == "closest_observation":
        position = n * q - Fraction(3, 2)
    elif method in ("lower", "higher", "midpoint", "nearest"):
        position = (n - 1) * q
    else:
        raise ValueError(f"no percentile method {method!r}")
    below = floor(position)
    g = _weight_above(method, below, position - below)
    left, right = (values[min(max(i, 0), n - 1)] for i in (below, below + 1))
    return (1 - g) * left + g * right


def _weight_above(method: str, below: int, excess: Fraction) -> Fraction:
    """Weight of the order statistic at below + 1, for the position below + excess."""
    if method in CONTINUOUS_METHODS:
        return excess
    if method == "nearest":
        return Fraction(round(below + excess) - below)  # round() takes a half to the even integer
    on_a_record, between_records = {
        "inverted_cdf": (Fraction(0), Fraction(1)),
        "averaged_inverted_cdf": (Fraction(1, 2), Fraction(1)),
        # Even ranks, counted from 1, are odd positions, counted from 0.
        "closest_observation": (Fraction(1 - below % 2), Fraction(1)),
        "lower": (Fraction(0), Fraction(0)),
        "higher": (Fraction(0), Fraction(1)),
        "midpoint": (Fraction(0), Fraction(1, 2)),
    }[method]
    return between_records if excess else on_a_record


def root_difference(vx: Fraction, vy: Fraction) -> Decimal:
    """Compute abs(sqrt(vx) - sqrt(vy)), correct to about ``DIGITS`` significant digits.

    In abs(vx - vy) / (sqrt(vx) + sqrt(vy)) the numerator is exact, so nothing cancels.

    >>> root_difference(Fraction(9), Fraction(4))
    Decimal('1')
    """
    if vx == vy:
        return Decimal(0)
    with localcontext() as context:
        context.prec = DIGITS + 20
        gap, *roots = (Decimal(v.numerator) / v.denominator for v in (abs(vx - vy), vx, vy))
        difference = gap / sum(root.sqrt() for root in roots)
        context.prec = DIGITS
        return +difference


def datasets(universe: Iterable[Record], n: int) -> set[Dataset]:
    """All distinct datasets of n records.

    >>> sorted(datasets([1, 2, 2], 2))
    [(1, 2), (2, 2)]
    """
    return set(combinations(sorted(universe), n))


def neighbors(
    universe: Iterable[Record],
    x: Iterable[Record],
    relation: str,
    k: int,
    exactly: bool = False,
    direction: str = "both",
) -> Iterator[Dataset]:
    """Iterate over the distinct neighbors of a dataset x of the universe.

    Which of several equal records x holds makes no difference to the neighbors' values. x itself is
    among them when a record of x can be replaced by another one of equal value. The ``direction``
    of the unbounded relation is "both", "add" or "remove"; other relations only have "both".

    >>> list(neighbors([1, 2, 3], (2,), "unbounded", 2, exactly=True))
    [(1, 2, 3)]
    >>> list(neighbors([2, 2], (2,), "bounded", 1))
    [(2,)]
    """
    x, outside = tuple(sorted(x)), sorted(universe)
    for record in x:
        outside.remove(record)  # ValueError if x is not a dataset of the universe
    seen: set[Dataset] = set()
    for removed, added in shapes(relation, k, exactly, direction):
        # No core is left of too small an x. Equal cores with equal additions make equal neighbors.
        for core in set(combinations(x, len(x) - removed)) if len(x) >= removed else ():
            for addition in set(combinations(outside, added)):
                y = tuple(sorted(core + addition))
                if y not in seen:
                    seen.add(y)
                    yield y


def shapes(relation: str, k: int, exactly: bool, direction: str) -> list[tuple[int, int]]:
    """Sizes (of A, of B) that a neighbor relation allows."""
    if k < 1:
        raise ValueError(f"the distance must be at least 1, not {k}")
    distances = [k] if exactly else range(1, k + 1)
    match relation, direction:
        case "bounded", "both":
            return [(d, d) for d in distances]
        case "unbounded", "both" | "add" | "remove":
            removals, additions = [(d, 0) for d in distances], [(0, d) for d in distances]
            return {"both": removals + additions, "add": additions, "remove": removals}[direction]
        case "symmetric_difference", "both":
            return [(i, d - i) for d in distances for i in range(d + 1)]
        case "edit", "both":
            both = [(i, j) for i in range(k + 1) for j in range(k + 1)]
            return [shape for shape in both if max(shape) in distances]
    raise ValueError(f"no neighbor relation {relation!r} with direction {direction!r}")


def pairs(universe: Iterable[Record], n: int, *relation: Any, **options: Any) -> Iterator[Pair]:
    """Iterate over the distinct pairs (x, y) with x of n records and y one of its `neighbors`.

    >>> list(pairs([1, 2, 3], 1, "unbounded", 2, exactly=True))
    [((1,), (1, 2, 3)), ((2,), (1, 2, 3)), ((3,), (1, 2, 3))]
    """
    universe = sorted(universe)
    for x in sorted(datasets(universe, n)):
        for y in neighbors(universe, x, *relation, **options):
            yield x, y


def global_sensitivity(
    universe: Iterable[Record], n: int, query: Query, *relation: Any, **options: Any
) -> tuple[Any, Pair]:
    """Largest change of the query from a dataset of n records to one of its `neighbors`.

    Returns the value and one pair (x, y) that attains it. The value is an exact Fraction; for "std"
    a Decimal correct to about ``DIGITS`` digits; for a function the plain abs(query(x) - query(y)).
    Pairs on which the query is undefined are left out; ValueError if no other one is there.

    >>> global_sensitivity([1, 2, 3, 10], 3, ("median",), "unbounded", 1)
    (Fraction(4, 1), ((1, 2, 10), (2, 10)))
    """
    return largest_change(query, pairs(universe, n, *relation, **options))


def local_sensitivity(
    universe: Iterable[Record], x: Iterable[Record], query: Query, *relation: Any, **options: Any
) -> tuple[Any, Pair]:
    """Largest change of the query from x to one of its `neighbors`, as in `global_sensitivity`.

    >>> local_sensitivity([1, 2, 3, 10], (1, 2, 3), ("mean",), "unbounded", 1)
    (Fraction(2, 1), ((1, 2, 3), (1, 2, 3, 10)))
    """
    x = tuple(sorted(x))
    return largest_change(query, ((x, y) for y in neighbors(universe, x, *relation, **options)))


def largest_change(query: Query, candidates: Iterable[Pair]) -> tuple[Any, Pair]:
    """Largest change of the query over the candidates, and the first pair that attains it."""
    fewest = least(query)
    answers: dict[Dataset, Any] = {}
    one_object: dict[Any, Any] = {}  # per distinct answer, so that equal answers have one id
    compared: set[tuple[int, int]] = set()
    largest, witness = None, None
    for x, y in candidates:
        if min(len(x), len(y)) < fewest:
            continue
        for dataset in (x, y):
            if dataset not in answers:
                answer = _answer(query, dataset)
                answers[dataset] = one_object.setdefault(answer, answer)
        ids = id(answers[x]), id(answers[y])
        if ids not in compared:
            compared.add(ids)
            change = _change(query, answers[x], answers[y])
            if largest is None or change > largest:
                largest, witness = change, (x, y)
    if witness is None:
        raise ValueError("there is no pair of neighboring datasets")
    return largest, witness


def _answer(query: Query, dataset: Dataset) -> Any:
    """Answer of a query; for a standard deviation its square."""
    if isinstance(query, tuple):
        return evaluate(("var", *query[1:]) if query[0] == "std" else query, dataset)
    answer = query(tuple(float(record) for record in dataset))
    if answer != answer:
        raise ValueError(f"the query has no answer on {dataset}")
    return answer


def _change(query: Query, answer_x: Any, answer_y: Any) -> Any:
    """Absolute difference of two answers that `_answer` gave."""
    if isinstance(query, tuple) and query[0] == "std":
        return root_difference(answer_x, answer_y)
    return abs(answer_x - answer_y)
