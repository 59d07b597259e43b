"""The problems of the reference suite whose sensitivities are known from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

from reference_parts import (
    ADD,
    CHANGE,
    REMOVE,
    REPLACE,
    REPLACE_2,
    Json,
    case,
    dataset,
    domain,
    near,
    query,
    table,
)

ROOT = Path(__file__).parent.parent


def article() -> Iterator[Json]:
    """Yield the article's tables, without those columns that say the same as another one."""
    committed = ROOT / "data" / "article_k12.json"
    for row in json.loads(committed.read_text("utf-8")):
        scenario, name, records = row["scenario"], row["query"], row["universe"]
        if scenario == "a_small" or name in ("count", "percentile 50"):
            continue
        column = row["column"].replace("_", " ")
        if scenario == "b":
            values = sorted(set(records))
            universe = domain(f"driver, {column}", values, records.count(values[0]))
        else:
            universe = dataset(f"school, {column}", records)
        asked = query(name)
        if name.startswith("percentile"):
            asked = query("percentile", q=int(name.split()[1]), method="linear")
        elif name in ("var", "std"):
            asked = query(name, ddof=0)
        neighbors = near(row["neighbors"], row["k"], row["neighbors"] == "unbounded")
        where = f"tables of scenario ({scenario[0]}), k = {row['k']}"
        said = ("from-scratch", where, f"{row['value']:.9g}")
        yield case(universe, row["size"], asked, neighbors, source=said)


def lee_and_clifton() -> Iterator[Json]:
    """Yield the example of Lee and Clifton, and the median of the second article's picture."""
    years = dataset("school of four, school year", [1, 2, 3, 4])
    days = dataset("school of four, absence days", [1, 2, 3, 10])
    where = "the example of four students, three of whom are released"
    ninety = query("percentile", q=90, method="linear")
    for universe, asked, unbounded, bounded in (
        (years, query("mean"), "5/6", "1"),
        (years, query("median"), "1", "1"),
        (years, query("var", ddof=0), "1.305556", "0.888889"),
        (years, query("std", ddof=0), "0.747219", "0.430723"),
        (days, query("mean"), "17/6", "3"),
        (days, query("median"), "4", "1"),
        (days, query("var", ddof=0), "15.972222", "15.555556"),
        (days, query("sum"), "10", "9"),
        (days, ninety, "6.5", "5.8"),
    ):
        for neighbors, says in ((CHANGE, unbounded), (REPLACE, bounded)):
            yield case(universe, 3, asked, neighbors, source=("lee-clifton", where, says))
    five = dataset("school of five", [1, 2, 3, 10, 11])
    for neighbors, says in ((CHANGE, "4.5"), (REPLACE, "8")):
        where = "the second article's picture of the median"
        yield case(five, 3, query("median"), neighbors, source=("from-scratch", where, says))


def closed_forms() -> Iterator[Json]:
    """Yield the closed forms for records between two bounds."""
    for low, high in ((0, 1), (5, 10), (-2, 3)):
        width, largest = Fraction(high - low), max(abs(low), abs(high))
        middle = Fraction(low + high, 2)
        universe = domain(f"[{low}, {high}]", [low, middle, high])
        for n in (2, 3, 4, 24) if low == 0 else (3, 4):
            half, spread = width / 2, width**2 * (n - 1) / n**2
            for asked, key, formula, bounded, unbounded in (
                (query("mean"), "dppack", "(U-L)/n", width / n, width / n),
                (query("var", ddof=1), "dppack", "(U-L)^2/n", width**2 / n, width**2 / n),
                (query("var", ddof=0), "derived", "(U-L)^2 (n-1)/n^2", spread, spread),
                (query("median"), "derived", "U-L or (U-L)/2", width if n % 2 else half, half),
                (query("sum"), "derived", "U-L or max(|L|, |U|)", width, largest),
                (query("count"), "derived", "0 or 1", 0, 1),
            ):
                for neighbors, value in ((REPLACE, bounded), (REMOVE, unbounded)):
                    least = asked.get("ddof", 0) + 1
                    if neighbors is REPLACE or n - 1 >= least:
                        said = (key, f"{asked['name']}, {formula}", str(value))
                        yield case(universe, n, asked, neighbors, source=said)
        said = ("derived", "mean over all sizes, (U-L)/2, attained at n = 1", str(width / 2))
        yield case(universe, 1, query("mean"), ADD, source=said)
    unit = domain("[0, 1]", [0, Fraction(1, 2), 1])
    where = "variance with ddof 1: two replacements change it by less than twice one's 1/4"
    asked = query("var", ddof=1)
    yield case(unit, 4, asked, REPLACE_2, source=("derived", where, "1/3"))


PEOPLE = table(
    "people",
    {"sex": "text", "age": "number"},
    list(product(("f", "m"), (0, 17, 65, 140))),
    None,
)
CELLS = (
    query("histogram", column="sex", categories=["f", "m"]),
    query("histogram_of_bins", column="age", edges=[0, 18, 65, 150]),
    query("group_counts", column="sex", groups=["f", "m"]),
)


def known_tables() -> Iterator[Json]:
    """Yield histograms, filtered counts, clipped sums and covariances with a source."""
    for asked, norm in product(CELLS, ("L1", "L2", "Linf")):
        for neighbors, replaced in ((REPLACE, 1), (REPLACE_2, 2), (REMOVE, 0), (ADD, 0)):
            one = {"L1": "2", "L2": "1.41421356", "Linf": "1"}[norm]
            two = {"L1": "4", "L2": "2.82842712", "Linf": "2"}[norm]
            says = ("1", one, two)[replaced]
            where = "histograms and tables: L1 2, L2 sqrt 2 if bounded, 1 if unbounded"
            key = "derived" if norm == "Linf" or replaced == 2 else "dppack"
            yield case(PEOPLE, 3, asked, neighbors, norm, (key, where, says))
    adults = query("count_if", column="age", operator=">=", value=18)
    for neighbors in (REPLACE, CHANGE):
        said = ("programming-dp", "counting queries: 1", "1")
        yield case(PEOPLE, 3, adults, neighbors, source=said)
    for low, high, bounded, unbounded in ((0, 125, 125, 125), (18, 65, 47, 65)):
        asked = query("sum_of", column="age", clip=[low, high])
        # The chapter states U-L, the rule of a replacement, for added rows too; so it is for L = 0.
        rule = ("programming-dp", "sum of values clipped to [L, U], U-L", str(bounded))
        yield case(PEOPLE, 3, asked, REPLACE, source=rule)
        if low:
            rule = ("derived", "sum of values clipped to [L, U], max(|L|, |U|)", str(unbounded))
        yield case(PEOPLE, 3, asked, CHANGE, source=rule)
    for a, b in (((0, 1), (0, 1)), ((5, 10), (-2, 3))):
        universe = table(
            f"[{a[0]}, {a[1]}] x [{b[0]}, {b[1]}]",
            {"a": "number", "b": "number"},
            list(product(a, b)),
            None,
        )
        area = (a[1] - a[0]) * (b[1] - b[0])
        for n in (2, 3, 4):
            said = ("dppack", "covariance, (U1-L1)(U2-L2)/n", str(Fraction(area, n)))
            asked = query("covariance", a="a", b="b", ddof=1)
            yield case(universe, n, asked, REPLACE, source=said)
