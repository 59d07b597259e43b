"""The file of the reference suite, read as another language would read it."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import oracle
import oracle_records
from paths import ROOT

FILE = ROOT / "data" / "reference_sensitivities.json"
TEXT = FILE.read_text("utf-8")
SUITE = json.loads(TEXT)
ENTRIES = SUITE["entries"]


def records_of(entry: dict[str, Any], written: list[Any]) -> list[Any]:
    """Records as the oracles take them: fractions, or tuples of cells."""
    universe = entry["universe"]
    if "values" in universe:
        return [Fraction(value) for value in written]
    numeric = [column["type"] == "number" for column in universe["columns"]]
    return [
        tuple(
            Fraction(cell) if number and cell is not None else cell
            for number, cell in zip(numeric, row, strict=True)
        )
        for row in written
    ]


def universe_of(entry: dict[str, Any]) -> dict[Any, int]:
    """How often each record of the universe is there, as far as neighbors can hold it."""
    universe = entry["universe"]
    records = records_of(entry, universe.get("values") or universe["rows"])
    most = entry["size"] + entry["neighbors"]["k"]
    counts = universe["counts"] or [most] * len(records)
    return dict(zip(records, counts, strict=True))


def query_on_rows(entry: dict[str, Any]) -> oracle_records.Query:
    asked = entry["query"]
    names = [column["name"] for column in entry["universe"]["columns"]]
    at = {key: names.index(asked[key]) for key in ("column", "a", "b", "of") if key in asked}
    match asked["name"]:
        case "count":
            return oracle_records.count
        case "count_if":
            value, least = asked["value"], asked["operator"] == ">="
            return oracle_records.count_if(
                lambda row: (
                    row[at["column"]] is not None
                    and (row[at["column"]] >= value if least else row[at["column"]] == value)
                )
            )
        case "sum_of":
            return oracle_records.total(at["column"], asked["clip"])
        case "mean_of":
            return oracle_records.mean(at["column"], asked["empty"])
        case "covariance":
            return oracle_records.covariance(at["a"], at["b"], asked["ddof"])
        case "histogram":
            return oracle_records.histogram_of_categories(at["column"], asked["categories"])
        case "histogram_of_bins":
            return oracle_records.histogram_of_bins(at["column"], asked["edges"])
        case "group_counts":
            counted = oracle_records.count
            return oracle_records.group_by(at["column"], counted, asked["groups"])
        case "group_sums":
            total = oracle_records.total(at["of"], asked["clip"])
            return oracle_records.group_by(at["column"], total, asked["groups"])
    raise AssertionError(asked)


def query_on_numbers(entry: dict[str, Any]) -> tuple[Any, ...]:
    name, *parameters = entry["query"].values()
    return (
        name,
        *(
            Fraction(one) if name == "percentile" and one == parameters[0] else one
            for one in parameters
        ),
    )


def answer_of(entry: dict[str, Any], records: list[Any]) -> Any:
    """The oracle's answer; of a standard deviation, its square."""
    if "rows" in entry["universe"]:
        return query_on_rows(entry)(tuple(records))
    name, *parameters = query_on_numbers(entry)
    return oracle.evaluate(("var" if name == "std" else name, *parameters), records)


def roots_of(written: Any) -> tuple[Fraction, Fraction]:
    """A stated value or answer as (a, b), where it is sqrt a - sqrt b."""
    if isinstance(written, str):
        return Fraction(written) ** 2, Fraction(0)
    if "root" in written:
        return Fraction(written["root"]), Fraction(0)
    a, b = map(Fraction, written["root_difference"])
    return a, b


def is_at_least(bound: Fraction, roots: tuple[Fraction, Fraction]) -> bool:
    """Whether bound >= sqrt a - sqrt b, for bound >= 0 and a >= b, without rounding."""
    a, b = roots
    rest = a - b - bound * bound
    return rest <= 0 or 4 * bound * bound * b >= rest * rest


def difference_as_roots(entry: dict[str, Any], first: Any, second: Any) -> Any:
    """The norm of a difference of answers as sqrt a - sqrt b."""
    if entry["query"]["name"] == "std":
        return max(first, second), min(first, second)
    distance = oracle_records.distances(first, second)[entry["norm"]]
    return (distance if entry["norm"] == "L2" else distance**2), Fraction(0)


def same_number(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> bool:
    """Whether two differences of roots agree; to 50 digits, if they are written differently."""
    if one == other:
        return True
    first, second = oracle.root_difference(*one), oracle.root_difference(*other)
    return abs(first - second) <= Decimal(10) ** -50 * max(first, second)


def relation_of(entry: dict[str, Any]) -> tuple[Any, ...]:
    near = entry["neighbors"]
    return near["relation"], near["k"], near["exactly"], near["direction"]
