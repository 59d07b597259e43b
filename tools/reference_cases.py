"""Which problems are in the reference suite; their sensitivities come from `make_reference`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from reference_known import article, closed_forms, known_tables, lee_and_clifton
from reference_parts import (
    ADD,
    CHANGE,
    CHANGE_2,
    RELATIONS,
    REMOVE,
    REPLACE,
    THREE_APART,
    Json,
    case,
    dataset,
    domain,
    name_of,
    near,
    query,
    table,
)
from reference_text import PERCENTILE_METHODS

QUERIES = (
    *(query(name) for name in ("mean", "median", "sum", "count", "min", "max")),
    *(query(name, ddof=ddof) for name, ddof in product(("var", "std"), (0, 1))),
    query("percentile", q=25, method="linear"),
    query("percentile", q=90, method="linear"),
)
EVERYWHERE = (
    *(query(name) for name in ("mean", "median", "sum", "max")),
    *(query("var", ddof=1), query("std", ddof=0), query("percentile", q=25, method="linear")),
)

SPREAD = dataset("spread", [-3, 0, 0, 1, 4, 4, 4, 9])
UNIVERSES = (  # with the size of datasets
    (dataset("ties", [0, 0, 0, 5, 5, 9, 9]), 4),
    (dataset("clusters", [0, 1, 2, 100, 101, 102, 103]), 4),
    (dataset("heavy tail", [1, 2, 3, 5, 10, 1000, 1000000]), 5),
    (dataset("offset 1e9", [10**9 + step for step in (0, 1, 1, 2, 4, 8)]), 4),
    (dataset("beyond 2^53", [2**53 + step for step in (0, 1, 2, 3, 7, 12)]), 4),
    (dataset("tenths", ["0.1", "0.2", "0.3", "0.3", "0.6", "0.7"]), 4),
    (dataset("binary tenths", [Fraction(n / 10) for n in (1, 2, 3, 6, 7, 9)]), 4),
    (dataset("fractions", ["-1/3", "1/7", "1/2", "2/3", "2/3", "5/4"]), 4),
    (dataset("negative", [-9, -7, -7, -2, -1, -1]), 4),
    (domain("three values", [1, 2, 4]), 4),
    (domain("two copies", [0, 1, 3, 10], 2), 4),
    (domain("one value", [7]), 4),
)


def grid() -> Iterator[Json]:
    """Yield every query under every relation, and every query on every universe."""
    for asked, neighbors in product(EVERYWHERE, RELATIONS):
        yield case(SPREAD, 4, asked, neighbors)
    for asked, neighbors in product(EVERYWHERE[:4], THREE_APART):
        yield case(SPREAD, 5, asked, neighbors)
    for shift, (universe, size) in enumerate(UNIVERSES):
        for place, asked in enumerate(QUERIES):
            yield case(universe, size, asked, RELATIONS[(5 * place + shift) % len(RELATIONS)])
    powers = dataset("powers", [1, 2, 4, 8, 16, 32])
    for method, q in product(PERCENTILE_METHODS, (30, "62.5")):
        neighbors = REPLACE if q == 30 else CHANGE
        yield case(powers, 4, query("percentile", q=q, method=method), neighbors)


def edges() -> Iterator[Json]:
    """Yield the smallest universes and sizes, and cores with fewer records than are replaced."""
    one, alone = domain("one value, 3 copies", [7], 3), dataset("two records", [2, 5])
    for asked in QUERIES:
        if asked.get("ddof") != 1:
            yield case(one, 2, asked, REPLACE)
            yield case(alone, 1, asked, ADD)
        yield case(SPREAD, 2 + (asked.get("ddof") == 1), asked, near("bounded", 2, True))
    for asked in (query("mean"), query("median"), query("var", ddof=0), query("std", ddof=0)):
        yield case(alone, 1, asked, near("symmetric_difference", 2, True))
        yield case(alone, 2, asked, REMOVE)


VISITS = table(
    "visits, ages missing",
    {"clinic": "text", "age": "number", "cost": "number"},
    [
        *(("east", 20, "10.5"), ("east", 30, "10.5"), ("east", None, 80)),
        *(("west", 20, "0.1"), ("west", 70, 4), (None, 50, 25)),
    ],
    [2, 1, 1, 1, 1, 1],
)
ON_ROWS = (
    query("count"),
    query("count_if", column="age", operator=">=", value=30),
    query("count_if", column="clinic", operator="==", value="east"),
    query("sum_of", column="cost", clip=None),
    query("sum_of", column="cost", clip=[1, "10.5"]),
    query("sum_of", column="age", clip=[25, 60]),
    query("mean_of", column="age", empty=None),
    query("mean_of", column="age", empty=0),
    query("covariance", a="age", b="cost", ddof=0),
    query("covariance", a="age", b="cost", ddof=1),
)
IN_GROUPS = (
    query("histogram", column="clinic", categories=["east", "west", None]),
    query("histogram_of_bins", column="cost", edges=[0, "10.5", 25]),
    query("group_counts", column="clinic", groups=["east", "west"]),
    query("group_sums", column="clinic", groups=["east", "west"], of="cost", clip=None),
    query("group_sums", column="clinic", groups=["east", "west", None], of="cost", clip=[1, 20]),
)


def tables() -> Iterator[Json]:
    """Yield queries on rows with missing values."""
    for place, asked in enumerate(ON_ROWS):
        for step in range(4):
            yield case(VISITS, 5, asked, RELATIONS[(place + 4 * step) % len(RELATIONS)])
    for place, (asked, norm) in enumerate(product(IN_GROUPS, ("L1", "L2", "Linf"))):
        for step in range(2):
            yield case(VISITS, 4, asked, RELATIONS[(place + 5 * step) % len(RELATIONS)], norm)
    small = table("answers", {"score": "number"}, [[1], [5], [None]], None)
    for asked in (
        query("mean_of", column="score", empty=0),
        query("sum_of", column="score", clip=[2, 4]),
    ):
        for neighbors in (REPLACE, CHANGE_2, near("symmetric_difference", 2)):
            yield case(small, 3, asked, neighbors)


def all_cases() -> list[Json]:
    """Return every case, those known from elsewhere first, each problem once."""
    parts = (
        *(lee_and_clifton(), closed_forms(), known_tables(), article()),
        *(grid(), edges(), tables()),
    )
    cases: dict[str, Json] = {}
    for part in parts:
        for one in part:
            cases.setdefault(name_of(one), one)
    return list(cases.values())
