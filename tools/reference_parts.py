"""The parts that problems of the reference suite are written with, as plain data.

They have the form in which they stand in `data/reference_sensitivities.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Json = dict[str, Any]


def told(number: Any) -> int | str:
    """Return a number as it is written: integers that every JSON parser keeps, else strings."""
    value = Fraction(number)
    exact = value.denominator == 1 and abs(value) < 2**53
    return int(value) if exact else number if isinstance(number, str) else str(value)


def numbers(
    name: str, values: Sequence[Any], counts: Sequence[int] | None, scenario: str = "dataset"
) -> Json:
    """Describe a universe of numbers; without counts, of unlimited copies."""
    return {
        "name": name,
        "scenario": scenario,
        "values": [told(value) for value in values],
        "counts": None if counts is None else list(counts),
    }


def dataset(name: str, records: Sequence[Any]) -> Json:
    """Describe the universe of scenario (a): every listed record is there once."""
    values = sorted(set(records), key=Fraction)
    return numbers(name, values, [records.count(value) for value in values])


def domain(name: str, values: Sequence[Any], copies: int | None = None) -> Json:
    """Describe the universe of scenario (b): every value can occur often."""
    return numbers(name, values, None if copies is None else [copies] * len(values), "domain")


def table(name: str, columns: Json, rows: Sequence[Any], counts: Sequence[int] | None) -> Json:
    """Describe a universe of rows."""
    return {
        "name": name,
        "scenario": "domain" if counts is None else "dataset",
        "columns": [{"name": column, "type": kind} for column, kind in columns.items()],
        "rows": [list(row) for row in rows],
        "counts": None if counts is None else list(counts),
    }


def near(relation: str, k: int, exactly: bool = False, direction: str = "both") -> Json:
    """Describe a neighbor relation at a distance."""
    return {"relation": relation, "k": k, "exactly": exactly, "direction": direction}


def query(name: str, **parameters: Any) -> Json:
    """Describe a query."""
    return {"name": name, **parameters}


def case(
    universe: Json,
    size: int,
    asked: Json,
    neighbors: Json,
    norm: str = "L1",
    source: tuple[str, str, Any] | None = None,
) -> Json:
    """Describe a problem; `source` is a key of SOURCES, the place there, and the value there."""
    known = source and dict(zip(("from", "where", "says"), source, strict=True))
    return {
        "universe": universe,
        "size": size,
        "neighbors": neighbors,
        "query": asked,
        "norm": norm,
        "source": known or "enumerated",
    }


REPLACE, REPLACE_2 = near("bounded", 1), near("bounded", 2)
CHANGE, CHANGE_2 = near("unbounded", 1), near("unbounded", 2)
REMOVE = near("unbounded", 1, direction="remove")
ADD = near("unbounded", 1, direction="add")
RELATIONS = (
    *(near("bounded", k, exactly) for k, exactly in product((1, 2), (False, True))),
    *(near("unbounded", k, exactly) for k, exactly in product((1, 2), (False, True))),
    *(near("unbounded", 2, e, way) for e, way in product((False, True), ("add", "remove"))),
    *(near("symmetric_difference", k, e) for k, e in product((1, 2), (False, True))),
)
THREE_APART = (near("symmetric_difference", 3), near("symmetric_difference", 3, True))


def name_of(one: Json) -> str:
    """Return the id of a case: its universe, size, query, relation and norm."""
    name, *parameters = one["query"].items()
    inside = ", ".join(f"{key} {_short(value)}" for key, value in parameters)
    asked = name[1] + (f" ({inside})" if inside else "")
    neighbors = one["neighbors"]
    relation = neighbors["relation"].replace("_", " ")
    if neighbors["direction"] != "both":
        relation += f" ({neighbors['direction']})"
    meaning = "exactly" if neighbors["exactly"] else "at most"
    return " | ".join(
        [
            *(one["universe"]["name"], f"n = {one['size']}", asked),
            *(f"{relation}, {meaning} {neighbors['k']}", one["norm"]),
        ]
    )


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(map(_short, value))
    return "none" if value is None else str(value)
